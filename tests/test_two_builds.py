"""Two builds give the same site, wherever they run."""

import filecmp
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers import build


@pytest.mark.ci
def test_two_builds_give_the_same_bytes(site, checkout, tmp_path_factory):
    """Also from another folder: no path, date or order of the machine gets into a page."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    build(checkout, elsewhere)
    assert differences(site, elsewhere) == []
    assert len(list(site.rglob("*.*"))) > 30


@pytest.mark.ci
def test_two_builds_into_one_folder_leave_a_whole_site(checkout, tmp_path):
    settings = {"RUNTIME": "false", "NOTEBOOK": "false"}
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(build, checkout, tmp_path / "site", **settings) for _ in range(2)]
    assert [one.result() for one in both] == [None, None]
    build(checkout, tmp_path / "alone", **settings)
    assert differences(tmp_path / "site", tmp_path / "alone") == []


def differences(one, other) -> list[str]:
    """What two folders do not both hold, to the byte."""
    first, second = (
        {path.relative_to(top): path for path in top.rglob("*") if path.is_file()}
        for top in (one, other)
    )
    both = first.keys() & second.keys()
    differ = {name for name in both if not filecmp.cmp(first[name], second[name], shallow=False)}
    return sorted(map(str, differ | (first.keys() ^ second.keys())))
