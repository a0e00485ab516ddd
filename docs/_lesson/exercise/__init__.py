"""Exercises that judge a reader's code: each is a page with its data file beside it."""

from _lesson import DOCS

YOUR_TURN = DOCS / "your-turn.toml"

EXERCISES = (YOUR_TURN,)  # the data files; the page of each has the same name
