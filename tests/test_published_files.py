"""What is published: each page of the navigation, and nothing of what builds them."""

import os

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
    assert published & overrides <= {"404.html", "robots.txt"}


def test_robots_are_told_where_the_list_of_pages_is(site, parsed):
    home = parsed("").select_one("link[rel=canonical]")["href"]
    assert f"Sitemap: {home}sitemap.xml" in (site / "robots.txt").read_text("utf-8")
    assert (site / "sitemap.xml").is_file()


def test_the_notebooks_page_begins_with_its_links_and_folds_its_source(parsed):
    article = parsed("code/attention/").select_one("article")
    colab = ["Open in Colab"] if os.environ.get("REPO_URL") else []  # else there is none to open
    wanted = [*colab, "Download the notebook"]
    links = [link.get_text() for link in article.select("h1 ~ p a")]
    assert links[: len(wanted)] == wanted
    assert len(article.select("details summary")) > 10
    bare = [code for code in article.select("pre") if not code.find_parent("details")]
    source = [code for code in bare if not code.find_parent(class_="output")]
    assert max(code.get_text().count("\n") for code in source) <= 12
