"""Judge from a checkout: python -m _lesson.exercise.judge DATA.toml my_solution.py."""

import sys
from pathlib import Path

from . import __doc__ as about
from .command_line import main
from .exercise import Exercise

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    data, *rest = sys.argv[1:]
    sys.exit(main(rest, about, Exercise(Path(data).read_text("utf-8-sig"))))
