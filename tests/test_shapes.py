"""Boards of one shape: all that symmetries make of one."""

from hypothesis import given, settings
from hypothesis import strategies as st
from questions import turned

from magsim.analysis.shapes import canonical, shape, symmetric

ASYMMETRIC = "12../..R./3.../...4"


def test_a_board_without_symmetry_has_eight_images() -> None:
    assert symmetric(ASYMMETRIC) == turned(ASYMMETRIC)
    assert len(symmetric(ASYMMETRIC)) == 8
    assert len(symmetric("..../.33./.33./....")) == 1
    assert len(symmetric("3.../..../..../....")) == 4


boards = st.lists(st.text(".123R", min_size=4, max_size=4), min_size=4, max_size=4).map("/".join)


@settings(max_examples=40)
@given(boards)
def test_one_board_stands_for_all_its_images(board: str) -> None:
    images = turned(board)
    assert symmetric(board) == images
    assert {canonical(image) for image in images} == {canonical(board)}
    assert canonical(board) in images
    plain = "".join("X" if sign in "123456" else sign for sign in board)
    assert {shape(image) for image in images} == {canonical(plain)}
