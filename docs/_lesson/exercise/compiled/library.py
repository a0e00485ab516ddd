"""Compile the standard library in its archive. Runs in the Python that will read it."""

import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc  # what py_compile calls, without files

# Compiled modules are larger. These make room: none is of use in a browser, or to an exercise.
LEFT_OUT = {
    "__phello__", "_pyrepl", "bdb", "ctypes", "curses", "dbm", "doctest", "email", "ftplib",
    "html", "http", "idlelib", "imaplib", "mailbox", "modulefinder", "multiprocessing",
    "optparse", "pdb", "pickletools", "poplib", "profile", "pstats", "pyclbr", "pydoc",
    "pydoc_data", "smtplib", "sqlite3", "trace", "unittest", "wave", "webbrowser", "wsgiref",
    "xml", "xmlrpc", "zipapp",
}  # fmt: skip
ENCODINGS = {"__init__", "aliases", "ascii", "cp437", "latin_1", "utf_8", "utf_8_sig", "utf_16"}


def wanted(name: str) -> bool:
    top, _, rest = name.removesuffix(".py").partition("/")
    return top not in LEFT_OUT and (top != "encodings" or rest in ENCODINGS)


def compile_all(archive: str) -> None:
    """Put compiled modules in the place of sources, always the same bytes."""
    with zipfile.ZipFile(archive) as source:
        names = [name for name in sorted(source.namelist()) if not name.endswith("/")]
        texts = {name: source.read(name) for name in names if wanted(name)}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name, data in texts.items():
            if name.endswith(".py"):
                # Pyodide reads docstrings of its own; nobody reads the library's.
                level = 0 if "pyodide" in name else 2
                code = compile(data, f"/lib/{name}", "exec", dont_inherit=True, optimize=level)
                name, data = f"{name}c", _code_to_hash_pyc(code, bytes(8), False)
            target.writestr(zipfile.ZipInfo(name), bytes(data), zipfile.ZIP_DEFLATED, 9)
