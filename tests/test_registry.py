"""Bot specs: which bot they name, what its options take, how they are spelled when canonical."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from bot_specs import refusal

from magsim import __version__, registry
from magsim.bot import Bot, option
from magsim.errors import MagsimError
from magsim.registry import (
    fingerprint,
    installed,
    load_bot,
    options_of,
    reliance,
    split_spec,
    strongest,
    worker_spec,
)
from magsim.rules import NIGHTMARE, SURVIVAL


class Every(Bot):
    """A bot with an option of each type and limits of each kind."""

    depth: int = option(2, "how far it looks", minimum=1, maximum=9)
    games: int = option(100, "how many it plays", minimum=1)
    temperature: float = option(1.0, "how bold it is", minimum=0.0)
    share: float = option(0.5, "a share", maximum=1)
    shift: float = option(0.0, "anything")
    greedy: bool = option(False, "whether it grabs")
    style: str = option("calm", "its manner", choices=("calm", "wild"))
    label: str = option("", "any text")


class NoBot:
    """Registered by mistake."""


def entry(name: str, value: str = "test_registry_bots:Every") -> EntryPoint:
    return EntryPoint(name, value, "magsim.bots")


@pytest.fixture
def every(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only ``every`` and three that do not work are installed."""
    bots = ModuleType("test_registry_bots")
    bots.Every, bots.NoBot = Every, NoBot
    monkeypatch.setitem(sys.modules, bots.__name__, bots)
    found = [
        entry("every"),
        entry("nobot", "test_registry_bots:NoBot"),
        entry("gone", "test_registry_bots:Gone"),
        entry("nowhere", "test_registry_nowhere:Every"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda **_: found)


every_installed = pytest.mark.usefixtures("every")


# Installed bots.


def test_the_bots_of_this_repository_are_installed_and_load_with_their_defaults():
    assert {"random", "greedy", "lookahead", "mcts", "ntuple"} <= installed().keys()
    assert isinstance(load_bot("random"), Bot)
    assert load_bot("random").spec == "random"


@every_installed
def test_installed_bots_come_in_the_order_of_their_names():
    assert list(installed()) == ["every", "gone", "nobot", "nowhere"]


def test_the_strongest_bot_is_the_first_of_those_of_the_greatest_strength(monkeypatch):
    bots = ModuleType("test_registry_bots")
    strengths = {"a": 5.0, "b": 20.5, "c": 20.5, "d": -1.0}
    for name, strength in strengths.items():
        setattr(bots, name, type(name, (Bot,), {"strength": strength}))
    monkeypatch.setitem(sys.modules, bots.__name__, bots)
    found = [entry(name, f"test_registry_bots:{name}") for name in ("d", "c", "b", "a", "gone")]
    monkeypatch.setattr(registry, "entry_points", lambda **_: found)
    assert strongest(SURVIVAL) == "b"


@every_installed
def test_bots_that_do_not_import_are_not_the_strongest():
    assert strongest(SURVIVAL) == "every"


def test_where_a_bot_knows_exactly_it_is_the_strongest(monkeypatch):
    class Known(Bot):
        exact = True

        def relies_on(self, rules):
            if rules != SURVIVAL:
                raise MagsimError("not known")
            return "a table"

    bots = ModuleType("test_registry_bots")
    bots.Known, bots.Strong = Known, type("Strong", (Bot,), {"strength": 300.0})
    monkeypatch.setitem(sys.modules, bots.__name__, bots)
    found = [entry(name, f"test_registry_bots:{name}") for name in ("Strong", "Known")]
    monkeypatch.setattr(registry, "entry_points", lambda **_: found)
    assert (strongest(SURVIVAL), strongest(NIGHTMARE)) == ("Known", "Strong")


def test_what_a_bot_relies_on_is_a_text_or_it_is_named():
    class Odd(Bot):
        spec = "odd"

        def relies_on(self, rules):
            return rules.powers if rules.powers else 1 / rules.powers

    assert reliance(Bot(), SURVIVAL) == ""
    with pytest.raises(MagsimError, match=r"^bot odd: relies_on\(\) gave 1, not a text$"):
        reliance(Odd(), SURVIVAL)
    with pytest.raises(MagsimError, match=r"^bot odd: relies_on\(\) raised ZeroDivisionError: "):
        reliance(Odd(), NIGHTMARE)


def test_where_no_bot_can_be_used_none_is_the_strongest(monkeypatch):
    found = [entry("nowhere", "test_registry_nowhere:Every")]
    monkeypatch.setattr(registry, "entry_points", lambda **_: found)
    with pytest.raises(MagsimError, match="no bot is installed that can be used"):
        strongest(SURVIVAL)


@every_installed
def test_an_unknown_bot_is_refused_with_the_nearest_name():
    assert refusal("evry") == (
        "unknown bot 'evry'; did you mean 'every'? (installed: every, gone, nobot, nowhere; "
        "a file is given by its path, ending in .py)"
    )


@every_installed
def test_an_unknown_bot_that_is_like_none_gets_no_suggestion():
    for text in ("xyzzy", "", ":depth=3"):
        assert "did you mean" not in refusal(text)
        assert "(installed: every, gone, nobot, nowhere;" in refusal(text)


def test_where_nothing_is_installed_the_list_says_none(monkeypatch):
    monkeypatch.setattr(registry, "entry_points", lambda **_: [])
    assert refusal("every") == (
        "unknown bot 'every' (installed: none; a file is given by its path, ending in .py)"
    )


@every_installed
def test_a_bot_that_does_not_import_says_why():
    assert refusal("nowhere") == (
        "bot 'nowhere' does not import from test_registry_nowhere:Every: "
        "ModuleNotFoundError: No module named 'test_registry_nowhere'"
    )
    assert refusal("gone").startswith(
        "bot 'gone' does not import from test_registry_bots:Gone: AttributeError: "
    )


@every_installed
def test_an_entry_point_that_is_no_bot_is_refused():
    assert refusal("nobot") == (
        "bot 'nobot': test_registry_bots:NoBot is no subclass of magsim.bot.Bot"
    )


def test_a_name_registered_by_two_packages_is_refused(monkeypatch):
    twice = [entry("every"), entry("every", "elsewhere:Every")]
    monkeypatch.setattr(registry, "entry_points", lambda **_: twice)
    assert refusal("every") == (
        "bot 'every' is registered twice, as test_registry_bots:Every and elsewhere:Every; "
        "uninstall one of the packages"
    )


@every_installed
def test_the_same_entry_seen_twice_is_one(monkeypatch):
    twice = [entry("every"), entry("every")]
    monkeypatch.setattr(registry, "entry_points", lambda **_: twice)
    assert load_bot("every").spec == "every"


# Options.


@every_installed
@pytest.mark.parametrize(
    ("spec", "name", "value"),
    [
        ("depth=5", "depth", 5),
        ("depth=1", "depth", 1),
        ("depth=9", "depth", 9),
        ("games=1000000", "games", 1_000_000),
        ("temperature=0.25", "temperature", 0.25),
        ("temperature=3", "temperature", 3.0),
        ("temperature=1e-3", "temperature", 0.001),
        ("share=-2", "share", -2.0),
        ("greedy=true", "greedy", True),
        ("greedy=YES", "greedy", True),
        ("greedy=1", "greedy", True),
        ("greedy=no", "greedy", False),
        ("greedy=0", "greedy", False),
        ("style=wild", "style", "wild"),
        ("label=a=b", "label", "a=b"),
        ("label=", "label", ""),
    ],
)
def test_options_are_read_by_their_type(spec, name, value):
    read = getattr(load_bot(f"every:{spec}"), name)
    assert (read, type(read)) == (value, type(value))


@every_installed
def test_options_that_are_not_given_have_their_defaults():
    bot = load_bot("every:depth=3")
    values = {entry.name: getattr(bot, entry.name) for entry in options_of(Every)}
    defaults = {entry.name: entry.default for entry in options_of(Every)}
    assert values == defaults | {"depth": 3}


@every_installed
@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("every", "every"),
        ("every:depth=2", "every"),
        ("every:depth=3", "every:depth=3"),
        ("every:depth=03", "every:depth=3"),
        ("every:depth= 3", "every:depth=3"),
        ("every:games=5:depth=3", "every:depth=3:games=5"),
        ("every:label=x:games=5:depth=2", "every:games=5:label=x"),
        ("every:temperature=1", "every"),
        ("every:temperature=2", "every:temperature=2.0"),
        ("every:temperature=5e-1", "every:temperature=0.5"),
        ("every:greedy=YES", "every:greedy=true"),
        ("every:greedy=0", "every"),
        ("every:style=calm:label=", "every"),
        ("every:shift=-0.5", "every:shift=-0.5"),
    ],
)
def test_a_canonical_spec_leaves_defaults_out_and_keeps_the_order_of_definition(given, canonical):
    assert load_bot(given).spec == canonical
    assert load_bot(canonical).spec == canonical


@every_installed
@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ("depth=0", "a whole number from 1 to 9"),
        ("depth=10", "a whole number from 1 to 9"),
        ("depth=2.5", "a whole number from 1 to 9"),
        ("depth=two", "a whole number from 1 to 9"),
        ("depth=", "a whole number from 1 to 9"),
        ("games=0", "a whole number, at least 1"),
        (f"games=1{'0' * 400}x", "a whole number, at least 1"),
        ("temperature=-0.1", "a number, at least 0.0"),
        ("temperature=nan", "a number, at least 0.0"),
        ("temperature=inf", "a number, at least 0.0"),
        ("share=1.5", "a number, at most 1"),
        ("shift=-inf", "a number"),
        ("shift=1,5", "a number"),
        ("greedy=maybe", "true or false"),
        ("greedy=", "true or false"),
        ("style=loud", "one of calm, wild"),
        ("style=Calm", "one of calm, wild"),
    ],
)
def test_a_value_that_is_not_allowed_is_told_what_is(spec, allowed):
    assert refusal(f"every:{spec}") == f"bot 'every:{spec}': option {spec} is to be {allowed}"


@every_installed
def test_a_whole_number_of_hundreds_of_digits_is_refused():
    for name in ("depth", "games"):
        assert f"option {name}=1000" in refusal(f"every:{name}={10**400}")
        assert " is to be a whole number" in refusal(f"every:{name}={10**400}")


@every_installed
def test_an_unknown_option_is_refused_with_the_nearest_name():
    known = "(it has: depth, games, temperature, share, shift, greedy, style, label)"
    assert refusal("every:dept=3") == (
        f"bot 'every:dept=3': unknown option 'dept'; did you mean 'depth'? {known}"
    )
    assert refusal("every:zzz=3") == f"bot 'every:zzz=3': unknown option 'zzz' {known}"
    assert refusal("every:spec=3") == f"bot 'every:spec=3': unknown option 'spec' {known}"


@every_installed
def test_an_option_given_twice_is_refused():
    assert refusal("every:depth=3:depth=3") == (
        "bot 'every:depth=3:depth=3': option 'depth' is given twice"
    )


@every_installed
@pytest.mark.parametrize("part", ["", "depth", "3"])
def test_an_option_without_a_value_is_refused(part):
    assert refusal(f"every:{part}") == (
        f"bot 'every:{part}': {part!r} is to be written as option=value"
    )


@every_installed
def test_a_text_option_may_look_like_a_file():
    assert load_bot("every:label=weights.py").label == "weights.py"
    assert worker_spec("every:label=weights.py") == "every:label=weights.py"


def test_options_are_listed_in_the_order_of_their_definition():
    listed = [(entry.name, entry.type, entry.default, entry.help) for entry in options_of(Every)]
    assert listed[0] == ("depth", int, 2, "how far it looks")
    assert [name for name, *_ in listed] == [
        *("depth", "games", "temperature", "share", "shift", "greedy", "style", "label"),
    ]


# What workers and the manifest are told.


def test_a_spec_is_split_at_its_colons():
    assert split_spec("mcts") == ("mcts", [])
    assert split_spec("mcts:a=1:b=x") == ("mcts", ["a=1", "b=x"])
    assert split_spec("some/my.python/bot.py:a=1") == ("some/my.python/bot.py", ["a=1"])
    assert split_spec("") == ("", [])


def test_the_fingerprint_of_an_installed_bot_is_its_package_and_sources():
    assert fingerprint("random").startswith(f"magsim {__version__} sources:")
    assert fingerprint("random:x=1") == fingerprint("random")


@every_installed
def test_a_bot_of_no_file_has_no_fingerprint():
    with pytest.raises(MagsimError, match="'test_registry_bots' registers bots and is not there"):
        fingerprint("every")
