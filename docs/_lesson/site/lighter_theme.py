"""Take away what makes a page slow to open, as the site is built.

From code, the element around each name and bracket: they have the colour of the text, and were
a third of the elements of a page. From Material's files, a few strings:

- The search index loads when the search is opened, not before: Material does so for pages
  opened from a file. It is the largest thing that most readers never use. The search's worker
  starts with the first message to it.
- Its script begins when the page has been drawn: it asks for sizes, so the browser would lay
  the page out in the midst of it, and be busy for long. Until then document$ keeps who
  subscribes. Two of its steps, that links get whole addresses and that the page's parts get
  their behaviour, are tasks of their own, between which a click is heard.
- Three things that its script does as a page opens make the browser style each element anew:
  to switch off all transitions while it sets the colours that are set already; to say the
  scheme in a <meta>, which lesson.css says as well; and to set the address of each style
  sheet again, so that two pages' sheets can be compared. Here their names are.
"""

import logging
import re
from pathlib import Path

log = logging.getLogger("mkdocs.hooks.lighter_theme")

SCRIPT, COLOURS = "javascripts/bundle.*.min.js", "stylesheets/palette.*.min.css"
LATER = (  # what stands for a worker until it is needed
    "(()=>{let w,t=new EventTarget;t.postMessage=m=>{w||((w=new Worker(e)).onmessage="
    'v=>t.dispatchEvent(new MessageEvent("message",{data:v.data}))),w.postMessage(m)};return t})()'
)
REPLACED = (
    (SCRIPT, '(location.protocol!=="file:"),', "(false),"),
    (SCRIPT, "function Mn(e,t=new Worker(e))", f"function Mn(e,t={LATER})"),
    (SCRIPT, "$(document).subscribe(vi);", "setTimeout(vi,0,document);"),
    (
        SCRIPT,
        'h(document,"DOMContentLoaded",{once:!0}).subscribe(()=>e.next(document))',
        "setTimeout(()=>e.next(document))",
    ),
    (
        SCRIPT,
        "function ks(){",
        "let kept=[];window.document$={subscribe:f=>kept.push(f)};let begin=()=>{function ks(){",
    ),
    (
        SCRIPT,
        "window.component$=Ki;",
        "window.component$=Ki;kept.forEach(f=>ct.subscribe(f))};document.addEventListener("
        '"DOMContentLoaded",()=>requestAnimationFrame(()=>setTimeout(begin)));',
    ),
    (SCRIPT, '"meta",{name:"color-scheme"}', '"meta",{name:"page-scheme"}'),
    (
        SCRIPT,
        '"[href], [src]",e))for(let r of["href","src"]){let o=t',
        '"[href]:not([rel=stylesheet]), [src]",e))for(let r of["href","src"]){let o=t',
    ),
    (
        SCRIPT,
        "t.set(r.outerHTML,r)",
        't.set(r.rel=="stylesheet"?r.href.split("/assets/")[1]:r.outerHTML,r)',
    ),
    (
        COLOURS,
        "[data-md-color-switching] *,[data-md-color-switching] :after,"
        "[data-md-color-switching] :before{transition-duration:0s!important}",
        "",
    ),
)


UNCOLOURED = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')  # name, punctuation, space


def on_page_content(text: str, **_) -> str:
    return UNCOLOURED.sub(r"\1", text)


def on_post_build(config) -> None:
    for files, old, new in REPLACED:
        for file in Path(config.site_dir, "assets").glob(files):
            text = file.read_text("utf-8")
            if text.count(old) == 1:
                file.write_text(text.replace(old, new), "utf-8")
                break
        else:
            log.warning(f"Material's {files} has changed: {old} stands there no more")
