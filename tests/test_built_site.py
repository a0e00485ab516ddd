"""What a visitor gets from the built site, as far as its files show it."""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, build, chapters, pages

CODE = "div.language-python.highlight pre > code"


def test_every_page_of_the_navigation_is_published(site):
    assert len(pages()) >= 13
    assert len(chapters()) == 7
    assert [page for page in pages() if not (site / page / "index.html").is_file()] == []


def test_nothing_of_the_builders_is_published(site):
    published = {path.relative_to(site).as_posix() for path in site.rglob("*")}
    overrides = {path.name for path in (ROOT / "docs/_lesson/site/overrides").iterdir()} - {
        "404.html"
    }
    assert [path for path in published if "_lesson" in path or path.endswith(".md")] == []
    assert published & overrides <= {"404.html"}


def test_every_link_leads_somewhere(site, parsed, address):
    """To a file of the site, and to an anchor on that page where it names one."""
    dead, checked = [], 0
    prefix = urllib.parse.urlsplit(address).path
    for file in site.rglob("*.html"):
        here = file.relative_to(site).as_posix()
        for tag in parsed(here).select("[href], [src]"):
            link = tag.get("href") or tag.get("src") or ""
            target = urllib.parse.urlsplit(urllib.parse.urljoin(prefix + here, link))
            if target.scheme or target.netloc:
                continue
            checked += 1
            path = site / urllib.parse.unquote(target.path).removeprefix(prefix)
            path = path / "index.html" if path.is_dir() else path
            anchor = urllib.parse.unquote(target.fragment)
            if not path.is_file():
                dead.append(f"{here}: {link}")
            elif anchor and anchor != "__skip" and path.suffix == ".html":
                page = parsed(path.relative_to(site).as_posix())
                if not page.find(id=anchor) and not page.find(attrs={"name": anchor}):
                    dead.append(f"{here}: {link}")
    assert checked > 400
    assert sorted(set(dead)) == []


def prose(article) -> str:
    return "".join(
        text for text in article.find_all(string=True) if not text.find_parent(["pre", "code"])
    )


LOADS = {"src", "srcset", "poster", "data"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}


def test_no_page_loads_anything_from_another_host(site, parsed):
    loads = []
    for file in site.rglob("*.html"):
        here = file.relative_to(site).as_posix()
        for tag in parsed(here).find_all(True):
            wanted = [tag[name] for name in LOADS & set(tag.attrs)]
            if tag.name == "link" and LOADED_LINKS & set(tag.get("rel", [])):
                wanted.append(tag["href"])
            if tag.name in ("script", "style"):
                wanted += re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", tag.get_text())
            loads += [f"{here}: {w}" for w in wanted if re.match(r"(https?:)?//", w)]
    for file in site.rglob("*.css"):
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]+)", file.read_text()):
            if re.match(r"(https?:)?//", address):
                loads.append(f"{file.name}: {address}")
    assert loads == []


def test_formulas_are_in_the_page_itself(parsed):
    """As MathML, which needs no script: none is left as LaTeX."""
    for page in pages():
        article = parsed(page).select_one("article")
        assert article.select(".arithmatex") == [], page
        assert "$" not in prose(article), page
    assert sum(len(parsed(page).select("article math")) for page in chapters()) > 20


@pytest.mark.ci
def test_two_builds_give_the_same_bytes(site, tmp_path):
    """Also from another folder: no path, date or order of the machine gets into a page."""
    copy = tmp_path / "elsewhere"
    skip = shutil.ignore_patterns(".*", "site", "__pycache__", "*.pyc")
    shutil.copytree(ROOT, copy, ignore=skip)
    build(copy, tmp_path / "site")
    first, second = (
        {path.relative_to(top): path for path in top.rglob("*") if path.is_file()}
        for top in (site, tmp_path / "site")
    )
    assert first.keys() == second.keys()
    assert len(first) > 30
    differ = [str(n) for n in first if not filecmp.cmp(first[n], second[n], shallow=False)]
    assert differ == []


@pytest.fixture(scope="session")
def numpy_only(tmp_path_factory):
    """A Python that has numpy and nothing else, not even the package."""
    return environment(tmp_path_factory.mktemp("numpy-only"), ["numpy", "numpy.libs"])


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """A Python that has nothing."""
    return environment(tmp_path_factory.mktemp("bare"), [])


def environment(folder: Path, packages: list[str]) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    home = Path(subprocess.check_output([python, "-c", ask], text=True).strip())
    have = Path(np.__file__).parent.parent
    for name in packages:
        if (have / name).is_dir():
            shutil.copytree(have / name, home / name)
    return python


def run(python: Path, *arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [python, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": "", "PYTHONUTF8": "1"},
        **options,
    )


def test_the_downloaded_script_runs_with_numpy_alone(site, numpy_only, tmp_path):
    shutil.copy(site / "code/attention.py", tmp_path)
    whole = run(numpy_only, "attention.py", cwd=tmp_path)
    assert (whole.returncode, whole.stderr) == (0, "")
    flags = "--one", "--select", "--scale", "--mask", "--params"
    parts = [run(numpy_only, "attention.py", flag, cwd=tmp_path).stdout for flag in flags]
    assert all(part and part.strip() in whole.stdout for part in parts)
    assert run(numpy_only, "attention.py", *flags, cwd=tmp_path).stdout == whole.stdout


def test_the_downloaded_script_prints_what_the_package_prints(site, numpy_only, tmp_path):
    shutil.copy(site / "code/attention.py", tmp_path)
    whole = run(numpy_only, "attention.py", cwd=tmp_path).stdout
    assert run(sys.executable, "-m", "attention", cwd=ROOT).stdout == whole


def test_without_numpy_the_script_says_what_to_install(site, bare, tmp_path):
    shutil.copy(site / "code/attention.py", tmp_path)
    tried = run(bare, "attention.py", cwd=tmp_path)
    assert tried.returncode != 0
    assert "pip install numpy" in tried.stdout + tried.stderr
    assert "Traceback" not in tried.stderr


def test_the_page_shows_the_very_script_that_is_downloaded(site, parsed):
    script = (site / "code/attention.py").read_text("utf-8")
    blocks = parsed("run-it/").select("article .highlight pre > code")
    assert script.strip() in [block.get_text().strip() for block in blocks]


def test_colab_is_offered_just_where_the_repository_is_known(site):
    repository = os.environ.get("REPO_URL", "").removeprefix("https://github.com/")
    link = (
        f"https://colab.research.google.com/github/{repository}/blob/gh-pages/code/attention.ipynb"
    )
    text = "".join(file.read_text("utf-8") for file in site.rglob("*.html"))
    if repository:
        assert f'href="{link}"' in text
    else:
        assert "colab.research.google.com/" not in text


# Copied code


def blocks_and_boxes(page) -> tuple[list[str], list]:
    """The code of a page in its order, and what the page says that it prints."""
    boxes = page.select("article .output")
    code = [
        tag.get_text()
        for tag in page.select(f"article {CODE}")
        if not any(box in tag.parents for box in boxes)
    ]
    return code, [row for box in boxes for row in shown(box)]


def shown(box) -> list:
    """The rows of an output box: a table's as tuples of cells, others as text."""
    rows = []
    for tag in box.select("pre > code, tr"):
        if tag.name == "tr":
            rows.append(tuple(cell.get_text().strip() for cell in tag.select("th, td")))
        else:
            rows += tag.get_text().rstrip("\n").split("\n")
    return rows


def printed(text: str) -> list:
    """What a program printed, in the same form as `shown`."""
    rows = []
    for line in text.splitlines():
        if not line.startswith("|"):
            rows.append(line)
        elif not re.fullmatch(r"[|: -]+", line) or "-" not in line:
            rows.append(tuple(cell.strip() for cell in line.strip().strip("|").split("|")))
    return rows


@pytest.fixture(params=["the package", "the file lying beside"])
def reader(request, site, numpy_only, tmp_path):
    """A Python in an empty folder, with the package or with attention.py lying there."""
    if request.param == "the package":
        return Path(sys.executable), tmp_path
    shutil.copy(site / "code/attention.py", tmp_path)
    return numpy_only, tmp_path


@pytest.mark.parametrize("page", chapters())
@pytest.mark.parametrize("way", ["a script", "a prompt"])
def test_code_copied_from_a_page_prints_what_the_page_shows(page, way, reader, parsed):
    python, folder = reader
    code, boxes = blocks_and_boxes(parsed(page))
    assert len(code) >= 3
    assert len(boxes) >= 10
    if way == "a script":
        (folder / "pasted.py").write_text("\n".join(code), "utf-8")
        result = run(python, "pasted.py", cwd=folder)
        assert result.stderr == ""
    else:
        typed = "\n\n".join(code) + "\n\n"
        result = run(python, "-q", "-i", input=typed, cwd=folder)
        assert re.sub(r">>> |\.\.\. ", "", result.stderr).strip() == ""
    assert printed(result.stdout) == boxes


# Colours


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour):
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    low, high = sorted([luminance(one), luminance(other)])
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_figures_stand_out_from_the_page(scheme):
    """Contrast of at least 3:1 for a shape and 4.5:1 for text, also on a heatmap's cell."""
    css = (ROOT / "docs/assets/lesson.css").read_text()
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{(.*?)}}', css, re.S)[1]
    colours = {
        name: np.array([int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        for name, value in re.findall(r"--([\w-]+): (#\w{6});", block)
    }
    paper, text = colours["paper"], colours["plot-fg"]
    darkest = 0.7 * colours["plot-weight"] + 0.3 * paper  # see figures.py
    for name in ("query", "key", "value", "weight", "warn"):
        assert contrast(paper, colours[f"plot-{name}"]) >= 3, name
    assert contrast(paper, text) >= 4.5
    assert contrast(paper, colours["plot-muted"]) >= 4.5
    assert contrast(darkest, text) >= 4.5
