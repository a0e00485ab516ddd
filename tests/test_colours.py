"""A colour says query, key, value or weight, and each reader can tell the four apart."""

import itertools
import re

import numpy as np
import pytest
from helpers import ROOT

ROLES = "query", "key", "value", "weight"
# How colours look to eyes that lack one kind of cone (Machado et al. 2009, severity 1).
SEEN = {
    "all cones": np.eye(3),
    "no long cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no middle cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no short cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def palette(scheme: str) -> dict[str, str]:
    css = (ROOT / "docs/assets/lesson.css").read_text()
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{(.*?)}}', css, re.S)[1]
    return dict(re.findall(r"--([\w-]+): (#\w{6});", block))


def lab(colour: str, seen) -> np.ndarray:
    """CIE L*a*b*, in which a distance of 2 can just be noticed side by side."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    x, y, z = np.array(TO_XYZ) @ np.clip(np.array(seen) @ linear, 0, 1) / [0.9505, 1, 1.089]
    fx, fy, fz = np.cbrt([x, y, z])
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_the_four_roles_are_told_apart(scheme, eyes):
    colours = palette(scheme)
    for one, other in itertools.combinations(ROLES, 2):
        pair = (lab(colours[f"plot-{role}"], SEEN[eyes]) for role in (one, other))
        distance = np.linalg.norm(next(pair) - next(pair))
        assert distance > 20, f"{one} and {other}: {distance:.1f}"


def test_a_role_colour_is_used_for_its_role_alone():
    """In the styles, only a rule that names a role takes its colour."""
    for file in (ROOT / "docs/assets").glob("*.css"):
        for selector, body in re.findall(r"([^{}]+){([^{}]*)}", file.read_text()):
            if "color-scheme" in selector:
                continue
            for role in re.findall(r"var\(--plot-(query|key|value|weight)\)", body):
                allowed = {"weight": ("weight", "cell", "share")}.get(role, (role,))
                assert any(f".{name}" in selector for name in allowed), (file.name, selector)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour):
        linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    low, high = sorted([luminance(one), luminance(other)])
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_figures_stand_out_from_the_page(scheme):
    """Contrast of at least 3:1 for a shape and 4.5:1 for text, also on a heatmap's cell."""
    colours = {
        name: np.array([int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        for name, value in palette(scheme).items()
    }
    paper, text = colours["paper"], colours["plot-fg"]
    darkest = 0.7 * colours["plot-weight"] + 0.3 * paper  # see figures/svg.py
    for name in ("query", "key", "value", "weight", "warn"):
        assert contrast(paper, colours[f"plot-{name}"]) >= 3, name
    for name in ("query", "key", "value"):  # letters of formulas
        assert contrast(paper, colours[f"plot-{name}"]) >= 4.5, name
    assert contrast(paper, text) >= 4.5
    assert contrast(paper, colours["plot-muted"]) >= 4.5
    assert contrast(darkest, text) >= 4.5
