from itertools import combinations

import numpy as np
import pytest

from thalweg.report.charts.theme import DARK, DASHES, LIGHT

THEMES = {"light": LIGHT, "dark": DARK}
# Machado, Oliveira & Fernandes (2009): what is left of linear RGB, severity 1.
SEEN = {
    "all colours": np.eye(3),
    "without red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "without green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "without blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TOLD_APART = 0.06
"""In OKLab, where 0.02 is about the least difference that is seen side by side."""


def linear(shade):
    value = np.array([int(shade[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    """Ottosson (2020)."""
    to_cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    from_cones = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(from_cones) @ np.cbrt(np.array(to_cones) @ np.clip(rgb, 0, 1))


def contrast(one, other):
    """As the Web Content Accessibility Guidelines define it."""
    bright = sorted(float(linear(shade) @ [0.2126, 0.7152, 0.0722]) + 0.05
                    for shade in (one, other))  # fmt: skip
    return bright[1] / bright[0]


@pytest.mark.parametrize("name", THEMES)
def test_text_can_be_read(name):
    colours = THEMES[name]
    for ground in (colours.paper, colours.card):
        assert contrast(colours.ink, ground) >= 7
        assert contrast(colours.muted, ground) >= 4.5
        assert contrast(colours.accent, ground) >= 4.5


@pytest.mark.parametrize("name", THEMES)
def test_lines_stand_out_from_the_ground(name):
    colours = THEMES[name]
    for shade in (*colours.series, colours.warm):
        assert contrast(shade, colours.card) >= 3


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("name", THEMES)
def test_no_two_series_look_alike_however_colours_are_seen(name, seen):
    for one, other in combinations(THEMES[name].series, 2):
        apart = [oklab(np.array(SEEN[seen]) @ linear(shade)) for shade in (one, other)]
        assert np.linalg.norm(apart[0] - apart[1]) >= TOLD_APART, (one, other)


def test_every_colour_has_a_dash_of_its_own():
    assert len(LIGHT.series) == len(DARK.series) == len(DASHES)
    assert len({tuple(dash) for dash in DASHES}) == len(DASHES)
