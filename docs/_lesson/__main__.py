"""What an author does beside writing, as `python docs/_lesson COMMAND`."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(DOCS), str(DOCS.parent)]  # in place of this very folder
USAGE = """\
usage: python docs/_lesson COMMAND
    check [PAGE[:LINE] ...]             show what differs between pages and code
    check --accept [PAGE[:LINE] ...]    and write it into the pages
    check --words [PAGE ...]            list the words of number that nothing binds
    words                               write down how many these are, for the test
    card                                draw docs/assets/card.png (needs Chromium)
    libraries                           ask other libraries again (needs PyTorch, ONNX, JAX)"""


def main(argv: list[str]) -> int:
    command, *rest = argv or ["--help"]
    if command == "check":
        from _lesson import lesson
        from _lesson.checked import command as checked

        return checked.main(lesson.config(), rest, "python docs/_lesson check")
    if command in ("card", "libraries", "words") and not rest:
        if command == "card":
            from _lesson.site import card as made
        elif command == "words":
            from _lesson.pages import words as made
        else:
            from _lesson.pages import libraries as made
        made.main()
        return 0
    print(USAGE, file=sys.stderr)
    return 0 if command in ("-h", "--help") else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
