"""Rules to play: difficulties, rules files and ``--set``, and what is said of a wrong one."""

from dataclasses import replace
from pathlib import Path

import pytest

from magsim.errors import MagsimError
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL
from magsim.variants import choose_rules

KNOWN = "(known: minimum, ruin_penalty, straight, four, two_pairs, max_difference, power_costs)"


def names(*arguments: object) -> list[str]:
    return [rules.name for rules in choose_rules(*arguments)]


def refusal(*arguments: object) -> str:
    with pytest.raises(MagsimError) as error:
        choose_rules(*arguments)
    assert error.value.exit_code == 2
    return str(error.value)


def rules_file(folder: Path, text: str, name: str = "harsh.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Difficulties.


def test_all_difficulties_are_chosen_unless_told():
    assert choose_rules() == choose_rules("all") == [PEACEFUL, SURVIVAL, NIGHTMARE]
    assert choose_rules() == list(DIFFICULTIES.values())


def test_difficulties_come_in_the_order_asked():
    assert choose_rules("nightmare,peaceful") == [NIGHTMARE, PEACEFUL]


def test_an_unknown_difficulty_is_refused_with_the_nearest_name():
    known = "(known: peaceful, survival, nightmare, all)"
    assert refusal("nightmere") == (
        f"unknown difficulty 'nightmere'; did you mean 'nightmare'? {known}"
    )
    assert refusal("peaceful,al") == f"unknown difficulty 'al'; did you mean 'all'? {known}"
    assert refusal("hard") == f"unknown difficulty 'hard' {known}"
    assert refusal("") == f"unknown difficulty '' {known}"
    assert refusal("peaceful, survival").startswith("unknown difficulty ' survival'")


def test_a_difficulty_named_twice_is_refused():
    assert refusal("peaceful,survival,peaceful") == (
        "--difficulty peaceful,survival,peaceful names a difficulty twice"
    )


# --set.


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("minimum=4", "minimum", 4),
        ("minimum=1", "minimum", 1),
        (" ruin_penalty = 20 ", "ruin_penalty", 20),
        ("ruin_penalty=0", "ruin_penalty", 0),
        ("straight=1000", "straight", 1000),
        ("four=0", "four", 0),
        ("two_pairs=25", "two_pairs", 25),
        ("max_difference=5", "max_difference", 5),
        ("max_difference=0", "max_difference", 0),
        ("power_costs=[]", "power_costs", ()),
        ("power_costs=[5]", "power_costs", (5,)),
        ("power_costs=[0, 10, 1000]", "power_costs", (0, 10, 1000)),
    ],
)
def test_a_setting_changes_one_value_of_each_difficulty(setting, key, value):
    chosen = choose_rules("all", None, [setting])
    for base, changed in zip(DIFFICULTIES.values(), chosen, strict=True):
        assert changed == replace(base, name=changed.name, **{key: value})


def test_a_setting_adds_to_the_name():
    assert names("survival", None, [" ruin_penalty = 20 "]) == ["survival+ruin_penalty=20"]
    assert names("peaceful", None, ["power_costs=[5, 10]", "minimum=3"]) == [
        "peaceful+power_costs=[5,10]+minimum=3"
    ]
    assert names("peaceful", None, ["power_costs=[]"]) == ["peaceful+power_costs=[]"]


def test_powers_come_with_their_costs():
    (rules,) = choose_rules("nightmare", None, ["power_costs=[5, 10]"])
    assert rules.powers == 2


WHOLE = "is to be a whole number from"
COSTS = (
    "is to be a list of up to 9 whole numbers from 0 to 1000, the cost of each Power in the order "
    "of use"
)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("minimum=9", f"minimum = 9 {WHOLE} 1 to 4"),
        ("minimum=0", f"minimum = 0 {WHOLE} 1 to 4"),
        ("minimum=5", f"minimum = 5 {WHOLE} 1 to 4"),
        ("minimum=true", f"minimum = True {WHOLE} 1 to 4"),
        ("minimum=2.0", f"minimum = 2.0 {WHOLE} 1 to 4"),
        ('minimum="2"', f"minimum = '2' {WHOLE} 1 to 4"),
        ("minimum=[2]", f"minimum = [2] {WHOLE} 1 to 4"),
        ("ruin_penalty=-1", f"ruin_penalty = -1 {WHOLE} 0 to 1000"),
        ("ruin_penalty=1001", f"ruin_penalty = 1001 {WHOLE} 0 to 1000"),
        ("straight=-60", f"straight = -60 {WHOLE} 0 to 1000"),
        ("four=1001", f"four = 1001 {WHOLE} 0 to 1000"),
        ("two_pairs=false", f"two_pairs = False {WHOLE} 0 to 1000"),
        ("max_difference=6", f"max_difference = 6 {WHOLE} 0 to 5"),
        ("max_difference=-1", f"max_difference = -1 {WHOLE} 0 to 5"),
        ("power_costs=5", f"power_costs = 5 {COSTS}"),
        ("power_costs=[-1]", f"power_costs = [-1] {COSTS}"),
        ("power_costs=[1001]", f"power_costs = [1001] {COSTS}"),
        ("power_costs=[true]", f"power_costs = [True] {COSTS}"),
        ("power_costs=[1.5]", f"power_costs = [1.5] {COSTS}"),
        ("power_costs=[[1]]", f"power_costs = [[1]] {COSTS}"),
        (
            "power_costs=[0,0,0,0,0,0,0,0,0,0]",
            f"power_costs = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {COSTS}",
        ),
        ("ruin_penality=20", f"unknown key 'ruin_penality'; did you mean 'ruin_penalty'? {KNOWN}"),
        ("powers=2", f"unknown key 'powers'; did you mean 'power_costs'? {KNOWN}"),
        ("xyzzy=2", f"unknown key 'xyzzy' {KNOWN}"),
        ("name=5", f"unknown key 'name' {KNOWN}"),
        ("ruin penalty=20", f"'ruin penalty' is no key {KNOWN}"),
        ("=20", f"'' is no key {KNOWN}"),
        ("ruin_penalty", "write it as key=value, such as ruin_penalty=20"),
        ("", "write it as key=value, such as ruin_penalty=20"),
        ("ruin_penalty=", "'' is no whole number or [list] of them"),
        ("ruin_penalty=many", "'many' is no whole number or [list] of them"),
        ("power_costs=[1", "'[1' is no whole number or [list] of them"),
        ("power_costs=1,2", "'1,2' is no whole number or [list] of them"),
    ],
)
def test_a_wrong_setting_is_told_what_is_allowed(setting, sentence):
    assert refusal("all", None, [setting]) == f"--set {setting}: {sentence}"


def test_nine_powers_are_the_most():
    (rules,) = choose_rules("peaceful", None, ["power_costs=[1,2,3,4,5,6,7,8,9]"])
    assert rules.powers == 9


def test_a_key_set_twice_is_refused():
    assert refusal("all", None, ["minimum=3", "minimum=3"]) == (
        "--set minimum=3: minimum is set twice"
    )
    assert names("peaceful", None, ["four=3", "minimum=3"]) == ["peaceful+four=3+minimum=3"]


# Rules files.


def test_a_file_changes_each_difficulty_and_adds_its_name(tmp_path):
    path = rules_file(tmp_path, "ruin_penalty = 25\npower_costs = [5, 15]\n")
    assert choose_rules("survival,nightmare", path) == [
        replace(SURVIVAL, name="survival+harsh", ruin_penalty=25, power_costs=(5, 15)),
        replace(NIGHTMARE, name="nightmare+harsh", ruin_penalty=25, power_costs=(5, 15)),
    ]


def test_a_file_may_name_itself(tmp_path):
    path = rules_file(tmp_path, 'name = "gentle-2.0_b"\nruin_penalty = 5\n')
    assert names("peaceful", path) == ["peaceful+gentle-2.0_b"]


def test_an_empty_file_changes_the_name_alone(tmp_path):
    path = rules_file(tmp_path, "")
    assert choose_rules("peaceful", path) == [replace(PEACEFUL, name="peaceful+harsh")]


def test_a_setting_goes_beyond_the_file(tmp_path):
    path = rules_file(tmp_path, "ruin_penalty = 25\nfour = 50\n")
    (rules,) = choose_rules("peaceful", path, ["ruin_penalty=30"])
    assert (rules.ruin_penalty, rules.four) == (30, 50)
    assert rules.name == "peaceful+harsh+ruin_penalty=30"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("minimum = 9", f"minimum = 9 {WHOLE} 1 to 4"),
        ("ruin_penalty = -5", f"ruin_penalty = -5 {WHOLE} 0 to 1000"),
        ("minimum = true", f"minimum = True {WHOLE} 1 to 4"),
        ("power_costs = [0,0,0,0,0,0,0,0,0,0]", f"power_costs = {[0] * 10} {COSTS}"),
        ("ruin_penality = 5", f"unknown key 'ruin_penality'; did you mean 'ruin_penalty'? {KNOWN}"),
        ("[four]\npoints = 5", "four = {'points': 5} " + f"{WHOLE} 0 to 1000"),
        ('name = ""', "name = '' is to be 1 to 40 letters, digits, '_', '.' or '-'"),
        ('name = "a+b"', "name = 'a+b' is to be 1 to 40 letters, digits, '_', '.' or '-'"),
        ('name = "a/b"', "name = 'a/b' is to be 1 to 40 letters, digits, '_', '.' or '-'"),
        ("name = 5", "name = 5 is to be 1 to 40 letters, digits, '_', '.' or '-'"),
        (
            f'name = "{"a" * 41}"',
            f"name = '{'a' * 41}' is to be 1 to 40 letters, digits, '_', '.' or '-'",
        ),
    ],
)
def test_a_wrong_value_in_a_file_is_told_what_is_allowed(tmp_path, text, sentence):
    path = rules_file(tmp_path, text)
    assert refusal("all", path) == f"rules file {path}: {sentence}"


def test_a_file_whose_own_name_does_not_serve_is_told_so(tmp_path):
    path = rules_file(tmp_path, "four = 5", "my rules.toml")
    assert refusal("all", path) == (
        f"rules file {path}: name = 'my rules' is to be 1 to 40 letters, digits, '_', '.' or '-'"
    )


@pytest.mark.parametrize(
    "text", ["ruin_penalty 5", "ruin_penalty = ", "[four", "four = 1\nfour = 2"]
)
def test_broken_toml_is_told_so(tmp_path, text):
    path = rules_file(tmp_path, text)
    assert refusal("all", path).startswith(f"rules file {path} is no TOML: ")


def test_a_file_that_cannot_be_read_is_told_so(tmp_path):
    missing = tmp_path / "none.toml"
    assert refusal("all", missing) == (
        f"rules file {missing} cannot be read: No such file or directory"
    )
    assert refusal("all", tmp_path) == f"rules file {tmp_path} cannot be read: Is a directory"
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"four = \xff")
    assert refusal("all", binary).startswith(f"rules file {binary} cannot be read: 'utf-8' codec")
