"""Two builds give the same site, wherever they run."""

import filecmp

import pytest
from helpers import build


@pytest.mark.ci
def test_two_builds_give_the_same_bytes(site, checkout, tmp_path_factory):
    """Also from another folder: no path, date or order of the machine gets into a page."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    build(checkout, elsewhere)
    first, second = (
        {path.relative_to(top): path for path in top.rglob("*") if path.is_file()}
        for top in (site, elsewhere)
    )
    assert first.keys() == second.keys()
    assert len(first) > 30
    differ = [str(n) for n in first if not filecmp.cmp(first[n], second[n], shallow=False)]
    assert differ == []
