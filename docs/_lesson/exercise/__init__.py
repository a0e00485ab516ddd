"""Exercises that judge a reader's code: each is a page with its data file beside it."""

from _lesson import DOCS

YOUR_TURN = DOCS / "your-turn.toml"
YOUR_HEADS = DOCS / "your-heads.toml"
YOUR_GRADIENT = DOCS / "your-gradient.toml"
YOUR_CACHE = DOCS / "your-cache.toml"

# The data files; the page of each has the same name.
EXERCISES = (YOUR_TURN, YOUR_HEADS, YOUR_GRADIENT, YOUR_CACHE)
