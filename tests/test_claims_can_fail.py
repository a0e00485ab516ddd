"""No claim of a page is true whatever becomes of the names that it rests on."""

import pytest
from _lesson import lesson

from tests.audit import claims

CODE = """```pycon
>>> import numpy as np
>>> from attention import ONE_QUERY
>>> w, n, name, keys = np.array([0.25, 0.75]), 3, "dog", {"a": [1, 2], "b": [3]}
>>> def area(x):
...     return x * n
```

"""
CONFIG = lesson.config()
PAGES = CONFIG.sources()


@pytest.mark.ci
@pytest.mark.parametrize("name", PAGES)
def test_each_claim_is_false_when_some_name_changes(name):
    assert [
        claim for claim in claims.try_page(PAGES[name], name, CONFIG) if not claim.can_fail
    ] == []


@pytest.mark.parametrize(
    ("expression", "can_fail"),
    [
        ("w[1] > w[0]", True),
        ("(np.diff(w) > 0).all()", True),
        ("n == 3", True),
        ("name == 'dog'", True),
        ("len(keys['b']) < len(keys['a'])", True),
        ("area(2) < area(3) < 10", True),
        ("len(ONE_QUERY.keys) == 3", True),
        ("w.sum() == 1.0", True),
        ("w[0] == w[0]", False),
        ("(w * w >= 0).all()", False),
        ("len(keys) >= 0", False),
        ("n == 3 or True", False),
        ("isinstance(name, str)", False),
        ("area(2) == area(2)", False),
        ("abs(n) > -1", False),
    ],
)
def test_a_claim_that_says_nothing_is_told_from_one_that_does(expression, can_fail):
    (claim,) = claims.try_page(f"{CODE}So it is.<!--? {expression} -->", "docs/page.md", CONFIG)
    assert claim == (9, expression, can_fail)
