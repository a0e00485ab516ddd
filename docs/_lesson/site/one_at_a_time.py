"""Let a build wait for another one that writes into the same folder.

Each would empty it under the other, and both would end well with half a site.
"""

import logging
import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

log = logging.getLogger("mkdocs.hooks.one_at_a_time")
held: dict[str, int] = {}  # by folder; the lock on it ends with its process


def on_config(config) -> None:
    folder = os.path.realpath(config.site_dir)
    if fcntl is None or folder in held:
        return
    os.makedirs(folder, exist_ok=True)
    held[folder] = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held[folder], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.info(f"Another build writes into {folder}: this one waits for it.")
        fcntl.flock(held[folder], fcntl.LOCK_EX)
