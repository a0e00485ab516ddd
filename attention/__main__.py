"""The command line: one flag a run, and one that trains."""

import argparse
import os
import sys
from pathlib import Path

from . import RUNS, __version__


def main(argv=None):
    """Print the runs that are asked for, in the lesson's order; all when none is.

    -> the exit status: 1 when --train found other weights than those shipped, else 0.
    """
    parser = argparse.ArgumentParser(
        prog=program_name(),
        allow_abbrev=False,
        description="Attention in numbers: five worked runs. "
        "Without a flag, all five; flags combine.",
    )
    for name, meaning in RUNS.items():
        parser.add_argument(f"--{name}", action="store_true", help=meaning)
    parser.add_argument(
        "--train",
        action="store_true",
        help="instead, train the small model again and compare it with the shipped one",
    )
    parser.add_argument(
        "--version", action="version", version=f"attention {__version__}"
    )
    asked = vars(parser.parse_args(argv))
    chosen = [name for name in RUNS if asked[name]] or list(RUNS)
    # Only now, for they bring numpy: help and version need not wait.
    if asked["train"]:
        from .training import retrain

        return 0 if retrain() else 1
    from .runs import run

    text = "\n\n\n".join(map(run, chosen))
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        # What is left in the buffer must not complain when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def program_name():
    """Name the program as the reader started it."""
    name = Path(sys.argv[0]).name
    if name == "__main__.py":
        return "python -m attention"
    return "python3 attention.py" if name == "attention.py" else "attention"


def printable(text):
    """Replace by ? what the terminal's encoding does not have."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


if __name__ == "__main__":
    sys.exit(main())
