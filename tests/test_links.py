"""Every link of the site leads somewhere."""

import urllib.parse


def test_every_link_leads_somewhere(site, parsed, address):
    """To a file of the site, and to an anchor on that page where it names one."""
    dead, checked = [], 0
    prefix = urllib.parse.urlsplit(address).path
    for file in site.rglob("*.html"):
        here = file.relative_to(site).as_posix()
        for tag in parsed(here).select("[href], [src]"):
            link = tag.get("href") or tag.get("src") or ""
            target = urllib.parse.urlsplit(urllib.parse.urljoin(prefix + here, link))
            if target.scheme or target.netloc:
                continue
            checked += 1
            path = site / urllib.parse.unquote(target.path).removeprefix(prefix)
            path = path / "index.html" if path.is_dir() else path
            anchor = urllib.parse.unquote(target.fragment)
            if not path.is_file():
                dead.append(f"{here}: {link}")
            elif anchor and anchor != "__skip" and path.suffix == ".html":
                page = parsed(path.relative_to(site).as_posix())
                if not page.find(id=anchor) and not page.find(attrs={"name": anchor}):
                    dead.append(f"{here}: {link}")
    assert checked > 400
    assert sorted(set(dead)) == []
