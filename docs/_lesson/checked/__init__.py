"""Pages whose every number is held against the code that they show.

One way: a page's text becomes a document (document.py), whose code is run and compared
(runner.py, compare.py), which gives records and problems (records.py). The build, the
command and the audits read those; render.py makes of them what the site shows. It serves any
lesson: what it must know of one is a Config. The standard library is all that it needs.
"""

from .compare import process
from .config import Config
from .pool import Checking, check
from .records import Page, Problem, Record, report

__all__ = ["Checking", "Config", "Page", "Problem", "Record", "check", "process", "report"]
