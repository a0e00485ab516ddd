"""The editor of the exercises: CodeMirror, joined with the few lines that set it up.

A build fetches its packages once, by the versions and checksums of a lock file, joins them into
one file and keeps that. Where they can't be had, readers write in the plain text box.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import tempfile
from pathlib import Path

from _lesson.exercise import node, runtime

log = logging.getLogger("mkdocs.hooks.exercise")

SOURCES = Path(__file__).parent / "editor"
INPUTS = ("package.json", "package-lock.json", "editor.js")
# Changes with what it is made from, so that no reader keeps an older one.
NAME = "editor-" + node.sha256(b"".join((SOURCES / name).read_bytes() for name in INPUTS))[:8]
FILE = f"{NAME}.js"
CACHE = node.CACHE / NAME


def available() -> bool:
    """Is the editor wanted, and at hand?"""
    return runtime.wanted() and (CACHE / node.MANIFEST).is_file()


def fetch() -> None:
    """Bring the editor into the cache, unless it is there or can't be had."""
    if not runtime.wanted() or node.whole(CACHE):
        return
    (CACHE / node.MANIFEST).unlink(missing_ok=True)
    try:
        node.keep(CACHE, {FILE: joined()})
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.info(f"{NAME} can't be had, so the exercise has a plain text box: {error}")


def joined() -> bytes:
    """The packages and the lines that set them up, as one small module."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in INPUTS:
            shutil.copy(SOURCES / file, folder)
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0")
        node.run("npm", "ci", "--loglevel=error", *quiet, folder=folder)
        bundler = next(folder.glob("node_modules/@esbuild/*/**/esbuild*"))
        options = ("--bundle", "--minify", "--format=esm", "--charset=utf8", "--legal-comments=eof")
        subprocess.run(
            [bundler, "editor.js", *options, f"--outfile={FILE}"],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=node.PATIENCE,
        )
        license = (folder / "node_modules/@codemirror/view/LICENSE").read_bytes()
        return b"/*\n" + license.strip() + b"\n*/\n" + (folder / FILE).read_bytes()
