"""The commands of the prompt: what lines mean, and what is answered to those that mean nothing."""

import pytest

from magsim.board import parse_cell
from magsim.decision import Power
from magsim.play.commands import WORDS, Command, Refusal, parse
from magsim.play.language import Tongue

TONGUE = Tongue("en")
B2, B3 = parse_cell("b2"), parse_cell("b3")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("3 b2", Command("place", ((3, B2),))),
        ("3b2", Command("place", ((3, B2),))),
        ("  3   B2 ", Command("place", ((3, B2),))),
        ("b2 3", Command("place", ((3, B2),))),
        ("3 on b2", Command("place", ((3, B2),))),
        ("3 b2 4 b3", Command("place", ((3, B2), (4, B3)))),
        ("3b24b3", Command("place", ((3, B2), (4, B3)))),
        ("3b2, 4b3;", Command("place", ((3, B2), (4, B3)))),
        ("3 b2 4 b3 done", Command("place", ((3, B2), (4, B3)), then_done=True)),
        ("3b2 d", Command("place", ((3, B2),), then_done=True)),
        ("b2", Command("place", ((0, B2),))),
        ("b2 done", Command("place", ((0, B2),), then_done=True)),
        ("3", Command("choose", die=3)),
        ("undo", Command("undo")),
        ("u", Command("undo")),
        ("undo b2", Command("undo", cell=B2)),
        ("undo all", Command("undo", everything=True)),
        ("+3", Command("power", power=Power("raise", (3,)))),
        ("+ 3", Command("power", power=Power("raise", (3,)))),
        ("-3", Command("power", power=Power("lower", (3,)))),
        ("raise 3", Command("power", power=Power("raise", (3,)))),
        ("low 3", Command("power", power=Power("lower", (3,)))),
        ("reroll 1 4", Command("power", power=Power("reroll", (1, 4)))),
        ("reroll 41", Command("power", power=Power("reroll", (1, 4)))),
        ("reroll 4,1", Command("power", power=Power("reroll", (1, 4)))),
        ("rer all", Command("power", power=Power("reroll", ()), everything=True)),
        ("done", Command("done")),
        ("d", Command("done")),
        ("ruin c3", Command("ruin", cell=parse_cell("c3"))),
        ("hint", Command("hint")),
        ("hint 5", Command("hint", count=5)),
        ("why b2", Command("why", cell=B2)),
        ("why 3 b2", Command("why", die=3, cell=B2)),
        ("why b2 3", Command("why", die=3, cell=B2)),
        ("SCORE", Command("score")),
        ("ru b2", None),
        ("rules", Command("rules")),
        ("show", Command("show")),
        ("save", Command("save")),
        ("?", Command("help")),
        ("q", Command("quit")),
        ("exit", Command("quit")),
    ],
)
def test_what_a_line_means(line: str, command: Command | None) -> None:
    if command is None:
        with pytest.raises(Refusal, match="ruin / rules"):
            parse(line, TONGUE)
    else:
        assert parse(line, TONGUE) == command


ALONE = ("undo", "done", "hint", "score", "rules", "show", "save", "help", "quit")


@pytest.mark.parametrize("word", WORDS)
def test_every_command_is_known_by_its_name(word: str) -> None:
    if word in ALONE:
        assert parse(word, TONGUE) == Command(word)
    else:
        with pytest.raises(Refusal, match="Write it as"):
            parse(word, TONGUE)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("7 b2", "“7” is no die"),
        ("0 b2", "“0” is no die"),
        ("12", "“12” is no die"),
        ("33 b2", "“33” is no die"),
        ("3 e2", "“e2” is no cell"),
        ("3 b5", "“b5” is no cell"),
        ("3 b2 4 b2", "b2 is named twice"),
        ("reroll all all", "“all” is no die"),
        ("x" * 50, f"“{'x' * 40}…”"),
        ("3 b2 4", "“4” stands alone"),
        ("3 4", "“4” is no cell"),
        ("b2 b3", "“b3” is no die"),
        ("3 b2 what", "“what” stands alone"),
        ("3 done", "Say where the 3 goes"),
        ("undo z9", "“z9” is no cell"),
        ("undo b2 b3", "undo b2"),
        ("+", "+3"),
        ("+3 4", "+3"),
        ("+7", "“7” is no die"),
        ("-x", "“x” is no die"),
        ("- 3 3", "-3"),
        ("reroll", "reroll 1 4"),
        ("reroll 1 9", "“9” is no die"),
        ("reroll b2", "“b2” is no die"),
        ("done now", "“done” stands alone"),
        ("ruin", "ruin c3"),
        ("ruin 3", "“3” is no cell"),
        ("ruin c3 c4", "ruin c3"),
        ("hint 0", "hint 9"),
        ("hint x", "hint 9"),
        ("hint 1 2", "hint 9"),
        ("why", "why b2"),
        ("why 3", "“3” is no cell"),
        ("why 3 b2 b3", "why b2"),
        ("score me", "“score” stands alone"),
        ("quit now", "“quit” stands alone"),
        ("s", "“s” may be score / show / save"),
        ("hnit", "did you mean “hint”?"),
        ("xyzzy", "“help” lists them all"),
        ("{n}", "“{n}”"),
        ("\x00", "no command “?”"),
        ("[red]3[/red]", "no command"),
    ],
)
def test_a_line_that_means_nothing_is_answered_in_one_sentence(line: str, words: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse(line, TONGUE)
    assert words in caught.value.sentence
    assert "\n" not in caught.value.sentence
