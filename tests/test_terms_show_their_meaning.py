"""A term of the glossary shows its meaning where a page first uses it, and only there."""

from _lesson.site.glossary import entries, once, plain, terms

KEY = '<abbr title="What a token offers.">key</abbr>'


def test_every_entry_of_the_glossary_is_a_term_in_each_of_its_forms():
    assert len(entries()) > 30
    assert {"softmax", "Softmax", "query", "queries", "keys", "Keys"} <= set(terms())
    assert set(entries()) <= set(terms())


def test_a_meaning_is_plain_text():
    assert plain("*See* [`it`](there.md), $n$ of 7<!--= 7 -->") == "See it, n of 7"
    assert not any(mark in meaning for meaning in terms().values() for mark in "<>`*$[]")


def test_only_the_first_of_a_page_shows_it():
    assert once(f"<p>{KEY} and {KEY}</p>") == f"<p>{KEY} and key</p>"


def test_titles_links_and_questions_show_none():
    for tag in ("a", "th", "h2", "summary"):
        text = f"<{tag} id=x>{{}}</{tag}><p>{KEY}</p>"
        assert once(text.format(KEY)) == text.format("key")


def test_the_glossary_itself_shows_none_and_a_chapter_shows_each_once(parsed):
    assert parsed("glossary/").select("article abbr") == []
    shown = [tag["title"] for tag in parsed("one-query/").select("article abbr")]
    assert len(shown) > 5
    assert len(set(shown)) == len(shown)
