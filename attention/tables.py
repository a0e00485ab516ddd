"""Numbers as text: a vector in brackets, and a table that reads well in a terminal."""

import re

NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?[x%]?")


def vector(v, places=1):
    """Write the numbers of a vector, (n,), in round brackets."""
    return f"({', '.join(f'{x:.{places}f}' for x in v)})"


def table(header, rows, align=None, places=None):
    """Lay out cells as a Markdown pipe table, its columns padded to line up.

    `align` has one letter a column, l or r; without it a column of numbers goes to
    the right and any other to the left. A | inside a cell is escaped. A whole number
    gets commas, and any other `places` decimals, which may be one for each column.

    Raises ValueError when a row is not as long as the header (quoting it), a cell
    holds a line break, or `align` or `places` does not fit; TypeError when a cell is
    neither text nor a number, and without `places` when it is no whole one.
    """
    header, *rows = [list(row) for row in (header, *rows)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells under {len(header)} columns: {row}")
    one = places is None or hasattr(places, "__index__")
    each = [places] * len(header) if one else list(places)
    if len(each) != len(header):
        raise ValueError(f"places {places} do not fit {len(header)} columns")
    rows = [list(map(number_text, row, each)) for row in rows]
    header, *rows = ([cell_text(cell) for cell in row] for row in (header, *rows))
    if align is None:
        align = "".join(
            "r" if is_numeric(row[i] for row in rows) else "l"
            for i in range(len(header))
        )
    if not header or len(align) != len(header) or set(align) - set("lr"):
        raise ValueError(f"align {align!r} does not fit {len(header)} columns")
    widths = [
        max(len(row[i]) for row in (header, ["---:"] * len(header), *rows))
        for i in range(len(header))
    ]
    rule = [
        "-" * (width - 1) + (":" if side == "r" else "-")
        for side, width in zip(align, widths, strict=True)
    ]
    return "\n".join(
        "| "
        + " | ".join(
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, side, width in zip(row, align, widths, strict=True)
        )
        + " |"
        for row in (header, rule, *rows)
    )


def number_text(cell, places):
    """Return a number as text; leave anything that is none as it is."""
    if hasattr(cell, "__index__"):  # a whole number, also one of numpy's
        return f"{cell:,}"
    if places is None or not hasattr(cell, "__float__"):
        return cell
    return f"{cell:.{places}f}"


def cell_text(cell):
    """Return a cell's text with its pipes escaped.

    Raises TypeError when it is not text, ValueError when it has several lines.
    """
    if not isinstance(cell, str):
        raise TypeError(f"a cell must be text, already formatted: {cell!r}")
    if len(cell.splitlines()) > 1:
        raise ValueError(f"a cell must be one line: {cell!r}")
    return cell.strip().replace("|", r"\|")


def is_numeric(cells):
    """Tell whether a column holds numbers; blanks may stand among them."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(NUMBER.fullmatch(cell) for cell in filled)
