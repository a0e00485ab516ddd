"""Python for the browser: Pyodide, from its npm package.

A build fetches that package once, by version and checksum, into a cache, and copies the few
files that are needed into the site. Where it can't be had, the site is built without it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import logging
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from _lesson.exercise import node

log = logging.getLogger("mkdocs.hooks.exercise")

VERSION = "314.0.7"
SHA512 = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
LOCK = "pyodide-lock.json"  # a list of packages that could be loaded; none is
LIBRARY = "python_stdlib.zip"
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", LIBRARY, LOCK)
COMPILER = Path(__file__).parent / "compiled"  # the scripts that compile the library
# What they make has a name of its own, so that no reader keeps an older one.
MADE_BY = node.sha256(b"".join(file.read_bytes() for file in sorted(COMPILER.glob("*.*"))))[:8]
NAME = f"pyodide-{VERSION}-{MADE_BY}"
CACHE = node.CACHE / NAME


def wanted() -> bool:
    """RUNTIME=false builds a site without Python for the browser."""
    return os.environ.get("RUNTIME", "true").strip().lower() not in ("false", "no", "off", "0")


def available() -> bool:
    """Is Python for the browser wanted, and at hand?"""
    return wanted() and (CACHE / node.MANIFEST).is_file()


def files() -> list[Path]:
    """The files that a browser fetches: those in the cache."""
    return [CACHE / name for name in FILES]


def compressed_size() -> int:
    """The bytes of these files on their way from a server that compresses."""
    return json.loads((CACHE / node.MANIFEST).read_text("utf-8"))["compressed"]


def fetch() -> None:
    """Bring Python for the browser into the cache, unless it is there or can't be had."""
    if not wanted() or node.whole(CACHE):
        return
    (CACHE / node.MANIFEST).unlink(missing_ok=True)
    try:
        unpack(package())
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.info(f"{NAME} can't be had, so the exercise is built without it: {error}")


def package() -> bytes:
    """The npm package as a file."""
    with tempfile.TemporaryDirectory() as folder:
        what = f"pyodide@{VERSION}"
        node.run("npm", "pack", what, "--loglevel=error", "--fetch-retries=0", folder=Path(folder))
        return next(Path(folder).glob("*.tgz")).read_bytes()


def unpack(archive: bytes) -> None:
    """Put the needed files into the cache. Raises ValueError for any other package."""
    got = hashlib.sha512(archive).hexdigest()
    if got != SHA512:
        raise ValueError(f"its checksum is {got}, not {SHA512}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = {name: tar.extractfile(f"package/{name}").read() for name in FILES}
    files[LIBRARY] = compiled(files)
    files[LOCK] = json.dumps(json.loads(files[LOCK]) | {"packages": {}}).encode()
    size = sum(len(gzip.compress(data, 6)) for data in files.values())
    node.keep(CACHE, files, compressed=size)


def compiled(files: dict[str, bytes]) -> bytes:
    """The standard library with its modules compiled: a browser need not do that at each start.

    Only the same Python writes what it can read, so it does it, in Node.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        node.run("node", COMPILER / "run.mjs", folder, folder=folder)
        return (folder / LIBRARY).read_bytes()
