"""The pages of the prompt: its commands, and the rules in short."""

from magsim.play.language import Phrase, Tongue
from magsim.rules import DIFFICULTIES, Rules


def help_rows(tongue: Tongue) -> list[tuple[str, Phrase]]:
    """Every command with what it does."""
    say = tongue.say
    return [
        ("3 b2", say("place a 3 on b2; several in a line, {done} at its end", done="done")),
        ("3", say("choose a 3: its legal cells are marked; then {cell} places it", cell="b2")),
        ("undo, undo b2, undo all", say("take back the last staged die, that of a cell, or all")),
        ("+3, -3, raise 3, lower 3", say("Power: raise or lower a die by 1")),
        ("reroll 1 4, reroll all", say("Power: roll these dice again, together")),
        ("done", say("confirm the staged dice; the others are discarded")),
        ("ruin c3", say("in MAGDAGDON: accept, and let a cell become a RUIN")),
        ("hint, hint 5", say("what a bot would do; its best five")),
        ("why b2, why 3 b2", say("why a cell is not legal, with the rule")),
        ("score", say("the score by parts, and what each line can still earn")),
        ("rules", say("the rules in short")),
        ("show", say("the board again")),
        ("save, quit", say("the game is saved after every command; {quit} leaves it", quit="quit")),
    ]


def _difficulty_line(rules: Rules, tongue: Tongue) -> Phrase:
    name = rules.name.upper()
    powers = tongue.count("{n} Power", "{n} Powers", rules.powers)
    if not rules.power_costs:
        return tongue.say("{name}: no Power, minimum {minimum}.", name=name, minimum=rules.minimum)
    return tongue.say(
        "{name}: {powers} for {costs} points, minimum {minimum}.",
        name=name,
        powers=powers,
        costs=", ".join(map(str, rules.power_costs)),
        minimum=rules.minimum,
    )


def rules_page(rules: Rules, tongue: Tongue) -> list[Phrase]:
    """The rules in short, with the difficulties; the values are those of ``rules``."""
    say = tongue.say
    return [
        say(
            "A turn: four dice are rolled. Stage them one by one on legal cells, at least the "
            "minimum, then confirm; dice left over are discarded (R3, R4)."
        ),
        say("With fewer empty cells than the minimum, that many dice are enough (R5)."),
        say(
            "The first number goes anywhere. From then on a die needs a number beside it, above "
            "or below, and may differ by at most {n} from every one of them (R8-R10).",
            n=rules.max_difference,
        ),
        say("A RUIN is no number: it neither connects nor constrains (R11)."),
        say(
            "Powers change dice that are not staged: raise or lower one by 1, never beyond 1 and "
            "6, or roll any of them again, together (R12-R15)."
        ),
        say(
            "If the dice allow no way to place the minimum, it is MAGDAGDON: use a Power, or let "
            "an empty cell become a RUIN, which ends the turn (R17-R19)."
        ),
        say(
            "Score: every number counts in its row and in its column. A full line without a RUIN "
            "earns at most one bonus: {straight} for a straight, four values that follow each "
            "other in one direction; {four} for four of a kind; {pairs} for two pairs (R21-R23).",
            straight=rules.straight,
            four=rules.four,
            pairs=rules.two_pairs,
        ),
        say("A RUIN costs {penalty} points (R24).", penalty=rules.ruin_penalty),
        say("The game ends when no cell is empty (R26)."),
        *(_difficulty_line(each, tongue) for each in DIFFICULTIES.values()),
    ]
