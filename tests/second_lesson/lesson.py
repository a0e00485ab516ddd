"""`mkdocs serve` shows the pages; `python lesson.py [--accept]` holds them against their code."""

import sys
from pathlib import Path

from _lesson.checked import Config, command
from _lesson.checked.hook import Hook

LESSON = Config(root=Path(__file__).resolve().parent, modules=("sums",))
on_startup, on_config, on_page_read_source, on_page_content, on_env = Hook(lambda: LESSON).events
if __name__ == "__main__":
    sys.exit(command.main(LESSON))
