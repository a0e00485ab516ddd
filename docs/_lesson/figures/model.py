"""Pictures of a model: the stream from top to bottom, its parts beside it, with their sizes."""

from __future__ import annotations

import html

from _lesson.figures.svg import _figure, _svg, _text

STREAM, WIDTH, BOX = 76, 360, 40  # where the stream runs; how wide a picture and high a box is


class Picture:
    """What has been drawn from the top down, and what it says to those who cannot see it."""

    def __init__(self) -> None:
        self.y, self.parts, self.said = 0, [], []

    def text(self, label: str) -> None:
        """A line of text on the stream."""
        self.parts.append(_text(STREAM, self.y + 12, label, "middle"))
        self.said.append(label)
        self.y += 24

    def flow(self, shape: str = "", height: int = 28) -> None:
        """The stream goes on, down to an arrow head; the shape of what flows stands beside it."""
        self.parts.append(arrow((STREAM, self.y), (STREAM, self.y + height)))
        if shape:
            self.parts.append(_text(STREAM + 10, self.y + height / 2 - 2, shape, "start"))
            self.said.append(f"flows on as {shape}")
        self.y += height

    def box(self, label: str, note: str = "") -> None:
        """A box on the stream."""
        self.parts += box(STREAM - 66, self.y, 132, label, note)
        self.said.append(spoken(label, note))
        self.y += BOX

    def plus(self, label: str) -> None:
        """What comes from the right is added to the stream."""
        self.parts += [
            f'<circle cx="{STREAM}" cy="{self.y + 9}" r="9" class="track"/>',
            _text(STREAM, self.y + 9, "+", "middle"),
        ]
        self.said.append(label)
        self.y += 18

    def branch(self, boxes: list[tuple[str, str]]) -> None:
        """Boxes beside the stream: they read it, and what comes out is added to it."""
        top, left = self.y + 14, 112
        middle = top + BOX / 2
        self.parts.append(arrow((STREAM, middle), (left, middle)))
        for number, (label, note) in enumerate(boxes):
            width = 58 if len(boxes) > 1 and number == 0 else 142
            if number:
                self.parts.append(arrow((left - 14, middle), (left, middle)))
            self.parts += box(left, top, width, label, note)
            left += width + 14
        out = left - 14 - 71
        parts = "; ".join(spoken(*each) for each in boxes)
        self.said.append(f"a branch reads the stream: {parts}")
        self.flow(height=BOX + 34)
        self.parts.append(arrow((out, top + BOX), (out, self.y + 9), (STREAM + 9, self.y + 9)))
        self.plus("its result is added to the stream")

    def frame(self, top: float, label: str) -> None:
        """A dashed frame around all that was drawn since `top`."""
        self.parts.insert(
            0,
            f'<rect x="2" y="{top}" width="{WIDTH - 4}" height="{self.y - top}" '
            'class="line line-2 dashed"/>',
        )
        self.parts.append(_text(WIDTH - 12, top + 14, label, "end"))

    def drawing(self, title: str) -> str:
        return _svg(f"{title}: {'; '.join(self.said)}.", WIDTH, self.y + 2, self.parts)


def arrow(*points: tuple[float, float]) -> str:
    """A line through the points, with a head at the last of them."""
    (a, _), (x, y) = points[-2:]
    if a == x:
        head = f"M{x - 4:g} {y - 6:g}L{x:g} {y:g}L{x + 4:g} {y - 6:g}"
    else:
        back = 6 if x < a else -6
        head = f"M{x + back:g} {y - 4:g}L{x:g} {y:g}L{x + back:g} {y + 4:g}"
    line = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f'<path d="M{line}{head}" class="line line-0"/>'


def box(left: float, top: float, width: float, label: str, note: str) -> list[str]:
    """A box with what it is, and perhaps a note below."""
    middle, height = left + width / 2, top + BOX / 2
    parts = [
        f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{BOX}" rx="3" class="track"/>',
        _text(middle, height - (8 if note else 0), label, "middle"),
    ]
    return parts + ([_text(middle, height + 9, note, "middle")] if note else [])


def spoken(label: str, note: str) -> str:
    return f"{label} ({note})" if note else label


def norm_orders(title: str) -> str:
    """A block in both orders, side by side: the norm on the branch, and the norm on the stream."""
    drawings = []
    for name, first in (("pre-norm", True), ("post-norm", False)):
        picture = Picture()
        picture.text("x")
        for part in ("attention", "feed-forward"):
            picture.branch([("norm", ""), (part, "")] if first else [(part, "")])
            if not first:
                picture.flow(height=20)
                picture.box("norm")
        picture.flow(height=20)
        drawings.append(
            f'<div class="panel"><p>{html.escape(name)}</p>{picture.drawing(name)}</div>'
        )
    return _figure(title, drawings)


def decoder(title: str, n: int, model, counted: dict[str, int]) -> str:
    """A decoder with learned positions and a tied head: its shapes for n tokens, its parameters.

    `model` is a Transformer, `counted` what count_parameters says of it.
    """
    stream = f"{n} × {model.D}"
    each = counted["norms"] // 2
    picture = Picture()
    picture.text(f"{n} tokens")
    picture.flow(height=18)
    picture.box("embedding", f"{model.vocabulary * model.D:,}")
    picture.flow(stream)
    top, middle = picture.y - 11, picture.y + 9
    picture.parts += box(184, top, 142, "positions", f"{model.positions * model.D:,}")
    picture.parts.append(arrow((184, middle), (STREAM + 9, middle)))
    picture.said.append(spoken("positions", f"{model.positions * model.D:,}"))
    picture.plus("added to the stream")
    picture.flow(stream)
    top = picture.y
    picture.parts.append(f'<path d="M{STREAM} {top}v12" class="line line-0"/>')
    picture.y += 12
    blocks = f"{model.L} blocks, one after the other"
    picture.said.append(f"{blocks}, each of this")
    for part, name in (("attention", "attention"), ("feed-forward", "feed_forward")):
        picture.branch([("norm", f"{each:,}"), (part, f"{counted[name]:,}")])
    picture.flow(height=16)
    picture.frame(top, blocks)
    picture.said.append("end of the block")
    picture.flow(stream)
    picture.box("norm", f"{counted['rest']:,}")
    picture.flow(stream)
    picture.box("embedding again", "0")
    picture.flow(height=18)
    picture.text(f"{n} × {model.vocabulary} logits")
    return _figure(title, [picture.drawing(title)])


def way_back(title: str) -> str:
    """The steps of attention from left to right, and the gradients that come back through them."""
    top, left, step, width = 40, 6, 102, 66
    middle, bottom = top + BOX / 2, top + BOX
    parts = []
    for number, (name, given, results, gradients) in enumerate(
        (
            ("scores", "Q, K", "S", "d_S"),
            ("softmax", "", "A", "d_A"),
            ("mixing", "V", "O", "d_out"),
        )
    ):
        x = left + step * number
        end, centre = x + width, x + width / 2
        parts += box(x, top, width, name, "")
        parts.append(arrow((end, middle - 9), (x + step, middle - 9)))
        parts.append(_text(end + 18, middle - 24, results, "middle"))
        parts.append(backwards(arrow((x + step, middle + 9), (end, middle + 9))))
        parts.append(_text(end + 18, middle + 24, gradients, "middle"))
        if given:
            found = ", ".join(f"d_{letter}" for letter in given.split(", "))
            parts.append(_text(centre, 8, given, "middle"))
            parts.append(arrow((centre, 18), (centre, top)))
            parts.append(backwards(arrow((centre, bottom), (centre, bottom + 22))))
            parts.append(_text(centre, bottom + 34, found, "middle"))
    parts.append(_text(left + 3 * step + 4, middle, "loss", "start"))
    said = (
        "forward: Q, K to scores; S to softmax; A and V to mixing; O to the loss; "
        "back: d_out from the loss to mixing, which gives d_V and d_A; "
        "d_A to softmax, which gives d_S; d_S to scores, which gives d_Q, d_K"
    )
    return _figure(title, [_svg(f"{title}: {said}.", WIDTH, bottom + 46, parts)])


def backwards(path: str) -> str:
    """The same path as one that gradients take."""
    return path.replace("line-0", "line-1")
