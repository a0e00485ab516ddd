"""The published style sheet keeps what a page uses, and leaves out parts that none has."""

from _lesson.site.few_files import needed

TABS = ".tabbed-labels>label{color:red}"
RED = "[data-md-color-primary=red]{--x:1}"
OTHERS = "p,.tabbed-set{margin:0}:not(.tabbed-set,p){left:0}@media print{a{top:0}}"


def test_a_part_that_no_page_names_is_left_out():
    assert needed(TABS + RED + OTHERS, '<p data-md-color-primary="custom">') == OTHERS


def test_a_part_that_a_page_names_is_kept():
    page = '<div class="tabbed-labels" data-md-color-primary="red">'
    assert needed(TABS + RED + OTHERS, page) == TABS + RED + OTHERS
