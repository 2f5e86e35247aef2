"""What is said when a game has ended: the score and its rank, the rival, the games of the bots."""

from pathlib import Path
from typing import TYPE_CHECKING

from magsim import rules as law
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue
from magsim.play.scores import HighScore
from magsim.play.screen import score_phrase

if TYPE_CHECKING:
    from magsim.reading.replay import Game as RivalGame

_FIGURE = 5
"""Columns that a score takes in the table of turns."""


_MOST = 8
"""How many bots a score is compared with, the strongest."""


def scores_by_turn(game: Game) -> list[int]:
    """The player's score after each turn that has ended, Powers paid."""
    afters = [(step.turn, step.board, game.rules.powers - step.powers_left) for step in game.steps]
    afters = [*afters, (game.turn + game.over, game.board, game.powers_used)][1:]
    return [
        law.score(board, game.rules, used).total
        for step, (turn, board, used) in zip(game.steps, afters, strict=True)
        if turn != step.turn
    ]


def ending(entry: HighScore, game: Game, ranked: list[HighScore], tongue: Tongue) -> list[Phrase]:
    """That the game is over, its score, and its place among the player's own."""
    say, name = tongue.say, entry.difficulty.upper()
    return [
        tongue.count(
            "The game is over after {n} turn.", "The game is over after {n} turns.", entry.turns
        ),
        score_phrase(game.score, tongue),
        tongue.count(
            "Your first game at {difficulty}.",
            "Place {place} of your {n} games at {difficulty}.",
            len(ranked),
            place=ranked.index(entry) + 1,
            difficulty=name,
        ),
        say(
            "To share it: seed {seed}, {difficulty}: beat {score}",
            seed=entry.seed,
            difficulty=name,
            score=entry.score,
        ),
    ]


def rival_phrase(game: Game, rival: "RivalGame", tongue: Tongue) -> Phrase:
    """How the rival stood after the turns that the player has finished; the game goes on."""
    played = min(game.turn - 1, len(rival.turns))
    score = rival.turns[played - 1].score if played else 0
    return tongue.say("{bot} has {score}", bot=rival.bot, score=score)


def comparison(game: Game, rival: "RivalGame", tongue: Tongue) -> list[Phrase]:
    """The player's game and the rival's, turn by turn, and who won by how much."""
    say = tongue.say
    mine, its = scores_by_turn(game), [turn.score for turn in rival.turns]
    rows = [
        (say("turn"), range(1, max(len(mine), len(its)) + 1)),
        (say("you"), mine),
        (say("rival"), its),
    ]
    width = max(len(label) for label, _ in rows)
    figures = ["".join(f"{figure:{_FIGURE}}" for figure in row) for _, row in rows]
    room = max(map(len, figures))
    ahead = mine[-1] - its[-1]
    if ahead == 0:
        verdict = say("A draw with {bot} on the same dice.", bot=rival.bot)
    elif ahead > 0:
        verdict = tongue.count(
            "You beat {bot} on the same dice by {n} point.",
            "You beat {bot} on the same dice by {n} points.",
            ahead,
            bot=rival.bot,
        )
    else:
        verdict = tongue.count(
            "{bot} beats you on the same dice by {n} point.",
            "{bot} beats you on the same dice by {n} points.",
            -ahead,
            bot=rival.bot,
        )
    return [
        verdict,
        *(
            Phrase(label.ljust(width + 1) + tongue.notation(figured.ljust(room)))
            for (label, _), figured in zip(rows, figures, strict=True)
        ),
    ]


def standing_phrases(score: int, game: Game, folder: Path, tongue: Tongue) -> list[Phrase]:
    """Where the score stands among the recorded games of the bots at this difficulty."""
    from magsim.play.standings import standings

    found = standings(score, game.rules, folder)
    if not found:
        return [
            tongue.say(
                "No recorded games of bots at {difficulty} in {folder} to compare with.",
                difficulty=game.rules.name.upper(),
                folder=folder,
            )
        ]
    return [
        tongue.count(
            "Percentile {percentile} among {n} recorded game of {bot}.",
            "Percentile {percentile} among {n} recorded games of {bot}.",
            standing.games,
            percentile=f"{standing.percentile:.1f}",
            bot=standing.bot,
        )
        for standing in found[-_MOST:]
    ]
