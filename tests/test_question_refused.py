"""Wrong experiment files are refused in one sentence."""

from pathlib import Path

import pytest
from experiment_files import EFFECT, GRID, STEPS, TOP, refusal

from magsim.errors import MagsimError
from magsim.experiments.question import read_question

REFUSED = {
    "no bots": ('question = "?"\ngames = 1\n' + STEPS, "bots is missing"),
    "no verdict": (TOP, "verdict is missing"),
    "a wrong key": (TOP + "seeds = 1\n" + STEPS, "unknown key 'seeds'; did you mean 'seed'?"),
    "a far key": (TOP + "zzz = 1\n" + STEPS, "unknown key 'zzz' (known: question, bots, games,"),
    "an empty question": (TOP.replace("How much?", " ") + STEPS, "question = ' ' is to be a text"),
    "a number of a question": (TOP.replace('"How much?"', "3") + STEPS, "question = 3 is to be"),
    "empty bots": (TOP.replace('["one", "two:depth=2"]', "[]") + STEPS, "bots = [] is to be"),
    "a bot of no name": (TOP.replace('"one"', '" "') + STEPS, "is to be a text or a list of texts"),
    "a number of a bot": (TOP.replace('"one"', "1") + STEPS, "bots = [1, 'two:depth=2'] is to be"),
    "half a game": (TOP.replace("7", "0.5") + STEPS, "games = 0.5 is to be a whole number, 1 to"),
    "no games": (TOP.replace("7", "0") + STEPS, "games = 0 is to be a whole number, 1 to"),
    "true games": (TOP.replace("7", "true") + STEPS, "games = True is to be a whole number"),
    "games of a text": (TOP.replace("7", '"7"') + STEPS, "games = '7' is to be a whole number"),
    "too many games": (TOP.replace("7", "4294967296") + STEPS, "1 to 4294967295"),
    "a low seed": (TOP + "seed = -1\n" + STEPS, "seed = -1 is to be a whole number, 0 to"),
    "a true seed": (TOP + "seed = true\n" + STEPS, "seed = True is to be a whole number"),
    "an unknown difficulty": (
        TOP + 'difficulty = "survivel"\n' + STEPS,
        "unknown difficulty 'survivel'; did you mean 'survival'? (known: peaceful,",
    ),
    "no difficulty": (TOP + "difficulty = []\n" + STEPS, "difficulty = [] is to be a text or a"),
    "a difficulty twice": (
        TOP + 'difficulty = ["survival", "survival"]\n' + STEPS,
        "difficulty = ['survival', 'survival'] names a difficulty twice",
    ),
    "a difficulty of a number": (TOP + "difficulty = 3\n" + STEPS, "difficulty = 3 is to be"),
    "a grid and points": (
        TOP + GRID + '[[points]]\nlabel = "a"\n' + EFFECT,
        "it has a grid and points; one of them is allowed",
    ),
    "a grid of a number": (TOP + "grid = 3\n" + EFFECT, "grid = 3 is to be a table of lists"),
    "a grid of tables": (TOP + "[[grid]]\nfour = [1]\n" + EFFECT, "is to be a table of lists"),
    "an axis of nothing": (TOP + "[grid]\nfour = []\n" + EFFECT, "four = [] is to be a list of"),
    "an axis of a number": (TOP + "[grid]\nfour = 3\n" + EFFECT, "four = 3 is to be a list of"),
    "a wrong axis": (
        TOP + "[grid]\nruin_penaltie = [1]\n" + EFFECT,
        "unknown key 'ruin_penaltie'; did you mean 'ruin_penalty'?",
    ),
    "an axis near a price": (
        TOP + "[grid]\npower_csot = [1]\n" + EFFECT,
        "unknown key 'power_csot'; did you mean 'power_cost'?",
    ),
    "the name as an axis": (TOP + '[grid]\nname = ["a"]\n' + EFFECT, "unknown key 'name'"),
    "a value twice": (
        TOP + 'difficulty = "survival"\n[grid]\nfour = [20, 40, 20]\n' + EFFECT,
        "the point survival+four=20 is there twice",
    ),
    "a value true": (TOP + "[grid]\nfour = [20, true]\n" + EFFECT, "four = True is to be a whole"),
    "a value of a half": (TOP + "[grid]\nfour = [20.0]\n" + EFFECT, "four = 20.0 is to be a whole"),
    "a value of a text": (TOP + '[grid]\nfour = ["20"]\n' + EFFECT, "four = '20' is to be a whole"),
    "a value of a table": (TOP + "[grid]\nfour = [{a = 1}]\n" + EFFECT, "is to be a whole number"),
    "a value of a list": (TOP + "[grid]\nfour = [[1]]\n" + EFFECT, "four = [1] is to be a whole"),
    "a value too high": (TOP + "[grid]\nminimum = [5]\n" + EFFECT, "a whole number from 1 to 4"),
    "a value below zero": (TOP + "[grid]\nfour = [-1]\n" + EFFECT, "from 0 to 1000"),
    "too many Powers": (TOP + "[grid]\npowers = [10]\npower_cost = [1]\n" + EFFECT, "0 to 9"),
    "a price too high": (TOP + "[grid]\npower_cost = [1001]\n" + EFFECT, "0 to 1000"),
    "Powers of no price": (
        TOP + "[grid]\npowers = [0, 1]\n" + EFFECT,
        "powers = 1, but nightmare prices 0; say with power_cost what each costs",
    ),
    "two ways of prices": (
        TOP + "[grid]\npower_costs = [[1]]\npowers = [1]\n" + EFFECT,
        "power_costs goes with neither powers nor power_cost",
    ),
    "prices true": (TOP + "[grid]\npower_costs = [[true]]\n" + EFFECT, "a list of up to 9 whole"),
    "too many points": (
        TOP + f"[grid]\nfour = {list(range(400))}\n" + EFFECT,
        "1,200 points; up to 1,000 are allowed",
    ),
    "points beyond counting": (
        TOP
        + "[grid]\n"
        + "\n".join(f"{key} = {list(range(900))}" for key in ("four", "straight", "two_pairs"))
        + f"\nruin_penalty = {list(range(900))}\n"
        + EFFECT,
        "1,968,300,000,000 points; up to 1,000 are allowed",
    ),
    "no points": (TOP + "points = []\n" + STEPS, "points are to be written as [[points]]"),
    "one point as a table": (
        TOP + '[points]\nlabel = "a"\n' + EFFECT,
        "points are to be written as [[points]]",
    ),
    "points of numbers": (
        TOP + "points = [1]\n" + EFFECT,
        "points are to be written as [[points]]",
    ),
    "a point of no label": (
        TOP + '[[points]]\nlabel = "a"\n[[points]]\nfour = 1\n' + EFFECT,
        "the label of point 2 is missing",
    ),
    "a label of a number": (TOP + "[[points]]\nlabel = 1\n" + EFFECT, "label of a point = 1 is"),
    "a label with a slash": (TOP + '[[points]]\nlabel = "a/b"\n' + EFFECT, "no '+', no '/' and"),
    "a label with a plus": (TOP + '[[points]]\nlabel = "a+b"\n' + EFFECT, "no '+', no '/' and"),
    "a label with a bell": (TOP + '[[points]]\nlabel = "a\\u0007"\n' + EFFECT, "can be printed"),
    "a long label": (
        TOP + f'[[points]]\nlabel = "{"ż" * 60}"\n' + EFFECT,
        "is too long for the name of a folder",
    ),
    "a label twice": (
        TOP + '[[points]]\nlabel = "a"\n[[points]]\nlabel = "a "\nfour = 1\n' + EFFECT,
        "the point peaceful+a is there twice",
    ),
    "a wrong key of a point": (
        TOP + '[[points]]\nlabel = "a"\nfuor = 1\n' + EFFECT,
        "unknown key 'fuor'; did you mean 'four'?",
    ),
    "a table in a point": (
        TOP + '[[points]]\nlabel = "a"\n[points.four]\nb = 1\n' + EFFECT,
        "four = {'b': 1} is to be a whole number",
    ),
    "a verdict of a text": (TOP + 'verdict = "steps"\n', "verdict is to be a table with a kind"),
    "a verdict of no kind": (
        TOP + '[verdict]\nmeasure = "score"\n',
        "is to be a table with a kind",
    ),
    "a wrong kind": (
        TOP + '[verdict]\nkind = "efect"\n',
        "unknown verdict 'efect'; did you mean 'effect'? (known: steps, spacing,",
    ),
    "a number of a kind": (TOP + "[verdict]\nkind = 3\n", "unknown verdict 3 (known: steps"),
    "a list of kinds": (TOP + '[verdict]\nkind = ["steps"]\n', "unknown verdict ['steps']"),
    "a table of kinds": (TOP + "[verdict]\nkind = {a = 1}\n", "unknown verdict {'a': 1}"),
    "a measure too much": (
        TOP + STEPS + 'measure = "score"\n',
        "verdict 'steps' takes nothing else, not 'measure'",
    ),
    "a level too much": (
        TOP + GRID + EFFECT + "below = 1\n",
        "'effect' takes measure, not 'below'",
    ),
    "a wrong measure": (
        TOP + GRID + EFFECT + 'measure = "scroe"\n',
        "unknown measure 'scroe'; did you mean 'score'? (known: score, base,",
    ),
    "a list of measures": (
        TOP + GRID + EFFECT + 'measure = ["score"]\n',
        "unknown measure ['score",
    ),
    "a number of a measure": (TOP + GRID + EFFECT + "measure = 3\n", "unknown measure 3"),
    "below true": (
        TOP + GRID + '[verdict]\nkind = "threshold"\nbelow = true\n',
        "below = True is to be a number",
    ),
    "below nan": (TOP + GRID + '[verdict]\nkind = "threshold"\nbelow = nan\n', "below = nan is to"),
    "below inf": (TOP + GRID + '[verdict]\nkind = "threshold"\nbelow = -inf\n', "below = -inf is"),
    "below too much": (
        TOP + GRID + f'[verdict]\nkind = "threshold"\nbelow = 1{"0" * 400}\n',
        "is to be a number, up to 1,000,000 either way",
    ),
    "a measure against itself": (
        TOP + GRID + '[verdict]\nkind = "crossing"\nmeasure = "ruins"\nother = "ruins"\n',
        "verdict 'crossing' needs a measure and an other, not 'ruins' twice",
    ),
    "a threshold of nothing": (
        TOP + GRID + '[verdict]\nkind = "threshold"\n',
        "verdict 'threshold' needs below, a number",
    ),
    "a threshold of no grid": (
        TOP + '[verdict]\nkind = "threshold"\nbelow = 1\n',
        "verdict 'threshold' needs a grid of whole numbers",
    ),
    "a threshold of points": (
        TOP + '[[points]]\nlabel = "a"\n[verdict]\nkind = "threshold"\nbelow = 1\n',
        "verdict 'threshold' needs a grid of whole numbers",
    ),
    "a threshold along lists": (
        TOP + '[grid]\npower_costs = [[1], [2]]\n[verdict]\nkind = "threshold"\nbelow = 1\n',
        "verdict 'threshold' needs a grid of whole numbers",
    ),
    "an effect of one point": (
        TOP + "[grid]\nfour = [20]\n" + EFFECT,
        "verdict 'effect' needs two points or more at each difficulty",
    ),
    "an effect of no grid": (TOP + EFFECT, "needs two points or more at each difficulty"),
    "a spacing of two": (
        TOP + 'difficulty = ["survival", "nightmare"]\n[verdict]\nkind = "spacing"\n',
        "verdict 'spacing' needs three difficulties and no grid",
    ),
    "a spacing of a grid": (
        TOP + GRID + '[verdict]\nkind = "spacing"\n',
        "verdict 'spacing' needs three difficulties and no grid",
    ),
    "the cost of a grid": (
        TOP + GRID + '[verdict]\nkind = "cost"\n',
        "verdict 'cost' needs difficulties and no grid",
    ),
    "no TOML": (TOP + "games = 8\n", "is no TOML: "),
    "a number too long": (TOP.replace("7", "1" * 5000) + STEPS, "4300 digits"),
    "a number too long to print": (TOP.replace("7", "0x" + "f" * 5000) + STEPS, "4300 digits"),
    "a nest": (TOP + f"seed = {'[' * 5000}{']' * 5000}\n" + STEPS, "is no TOML: "),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(tmp_path, text)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(MagsimError, match="cannot be read: "):
            read_question(path)
    (tmp_path / "odd.toml").write_bytes(b'question = "\xff"\n')
    with pytest.raises(MagsimError, match="cannot be read: "):
        read_question(tmp_path / "odd.toml")
