"""What is published: each page of the navigation, and nothing of what builds them."""

from helpers import ROOT, chapters, pages


def test_every_page_of_the_navigation_is_published(site):
    assert len(pages()) >= 13
    assert len(chapters()) >= 11
    assert [page for page in pages() if not (site / page / "index.html").is_file()] == []


def test_nothing_of_the_builders_is_published(site):
    published = {path.relative_to(site).as_posix() for path in site.rglob("*")}
    overrides = {path.name for path in (ROOT / "docs/_lesson/site/overrides").iterdir()} - {
        "404.html"
    }
    assert [path for path in published if "_lesson" in path or path.endswith(".md")] == []
    assert published & overrides <= {"404.html"}
