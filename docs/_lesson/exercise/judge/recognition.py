"""Which of the stored mistakes a program seems to make, from its results, case by case."""

from __future__ import annotations

import math

from .results import TOLERANCE, differing, fits, power

MOST_MISTAKES = 3  # that are named at once: more would be guesses
CHANCE = 0.4  # what explains less of each failed check, on average, fits by chance: 2 is all
ROUNDING = 1e-4  # relative; single precision keeps seven digits of each step, but scores are large


def recognised(results: list[dict | None], exercise) -> list[dict]:
    """The mistakes that fit a program's results, as {name, comes_from, says, checks}.

    `results` has None for each case that did not run. Where no one mistake fits them all, the
    one that explains most of the failed checks comes first; then what explains most of the rest.
    """
    outputs = [case["output"] for case in exercise.cases]
    failed = {i for i, one in enumerate(results) if one and not right(one, outputs[i])}
    fitting = []  # for each stored program: its mistake, what it explains, where it agrees
    for wrong, others in exercise.results:
        agrees = {i for i, one in enumerate(results) if one and alike(one, others[i])}
        fails = {i for i, other in enumerate(others) if failure(other)}
        # The same failure says less than the same numbers, and some of a program's say nothing.
        whole = fails <= agrees
        explains = {i: 1 if i in fails else 2 for i in failed & agrees if whole or i not in fails}
        fitting.append((wrong, explains, agrees))
    return rounded(results, outputs, failed) or ranked(fitting, failed, len(results))


def ranked(fitting: list[tuple], failed: set[int], total: int) -> list[dict]:
    """The mistakes that explain most: what fits, as (mistake, explains, agrees), goes in."""
    known, left = {}, set(failed)
    while left:
        rank = [(sum(how.get(i, 0) for i in left), len(agrees)) for _, how, agrees in fitting]
        best = max(rank, default=(0, 0))
        if best[0] < CHANCE * len(left):
            break
        found = [one for one, how in zip(fitting, rank, strict=True) if how == best]
        named = {wrong["name"]: (wrong, left & explains.keys()) for wrong, explains, _ in found}
        left = left.difference(*(explains for _, explains, _ in found))
        if len(known | named) > MOST_MISTAKES:  # too many fit equally well
            continue
        for name, (wrong, explains) in named.items():
            checks = sorted(i + 1 for i in explains)
            says = "These are the outputs of" if best[1] == total else fails_as(checks)
            one = {"name": name, "comes_from": wrong["comes_from"], "checks": checks}
            known.setdefault(name, one | {"says": f"{says}: {name}"})
    return list(known.values())


def right(result: dict, output: list) -> bool:
    """Does a result pass its check?"""
    fit = fits(result["value"], output)
    return fit and not result["changed"] and not differing(result["value"], output)


def alike(result: dict, other: dict) -> bool:
    """Are two results the same numbers, or the same kind of failure?"""
    mine, its = result["value"], other["value"]
    if mine is None or its is None:
        return failure(result) == failure(other)
    return fits(mine, its) and result["changed"] == other["changed"] and not differing(mine, its)


def failure(result: dict) -> str:
    """How a result fails, "" for numbers. An overflow raises in one program, is NaN in another."""
    if result["error"]:
        return result["error"]["kind"]
    if result["value"] is None:
        return "unreadable"
    return "" if all(math.isfinite(x) for row in result["value"] for x in row) else "arithmetic"


def fails_as(checks: list[int]) -> str:
    """`Checks 2, 4 and 7 fail as with`."""
    *most, last = map(str, checks)
    return (
        f"Checks {', '.join(most)} and {last} fail as with"
        if most
        else f"Check {last} fails as with"
    )


def rounded(results: list[dict | None], outputs: list, failed: set[int]) -> list[dict]:
    """Is a program right but for its rounding? Then that is said, and how far it goes."""
    gaps = [0.0]
    for i in failed:
        if not fits(results[i]["value"], outputs[i]) or results[i]["changed"]:
            return []
        for row, wanted in zip(results[i]["value"], outputs[i], strict=True):
            gaps += [abs(x - y) / max(1.0, abs(y)) for x, y in zip(row, wanted, strict=True)]
    if not failed or None in results or not all(gap < ROUNDING for gap in gaps):  # NaN is not
        return []
    comes_from = (
        f"Each number is within {power(max(gaps))} of the expected one, where the checks want "
        f"{power(TOLERANCE)}: the method is right. Single precision (float32) keeps about seven "
        "digits in each step, and a rounded number has only those that were kept. Compute in "
        "double precision, as Python's own floats are, and round nothing."
    )
    checks = sorted(i + 1 for i in failed)
    says = "Right, but for rounding"
    return [{"name": "rounding", "comes_from": comes_from, "checks": checks, "says": says}]
