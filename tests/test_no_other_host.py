"""A page loads nothing from another host."""

import re

LOADS = {"src", "srcset", "poster", "data"}

LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}


def test_no_page_loads_anything_from_another_host(site, parsed):
    loads = []
    for file in site.rglob("*.html"):
        here = file.relative_to(site).as_posix()
        for tag in parsed(here).find_all(True):
            wanted = [tag[name] for name in LOADS & set(tag.attrs)]
            if tag.name == "link" and LOADED_LINKS & set(tag.get("rel", [])):
                wanted.append(tag["href"])
            if tag.name in ("script", "style"):
                wanted += re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", tag.get_text())
            loads += [f"{here}: {w}" for w in wanted if re.match(r"(https?:)?//", w)]
    for file in site.rglob("*.css"):
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]+)", file.read_text()):
            if re.match(r"(https?:)?//", address):
                loads.append(f"{file.name}: {address}")
    assert loads == []
