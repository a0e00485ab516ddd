"""Alter the theme's markup where it has no option for that: a filter for overrides/main.html."""

from mkdocs.exceptions import PluginError


def alter(markup: str, old: str, new: str) -> str:
    """`markup` with `new` for `old`. PluginError: `old` does not stand there exactly once."""
    if (count := markup.count(old)) != 1:
        raise PluginError(f"the theme's markup has changed: {old} stands {count} times there")
    return markup.replace(old, new)


def on_env(env, **_) -> None:
    env.filters["alter"] = alter
