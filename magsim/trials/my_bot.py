"""A bot that likes room: it takes the outcome that scores most, and keeps cells usable.

magsim check-bot my_bot.py                 is it fit to play?
magsim match greedy my_bot.py              is it better than another one, and by how much?
magsim tournament --bots my_bot.py,greedy  how does it play?
"""

from magsim.board import cell_value, empty_cells
from magsim.bot import Bot, Position, option
from magsim.decision import Decision


class MyBot(Bot):
    """Takes the outcome with the best score, and some points for each cell that is still of use."""

    # Options are given as in `my_bot.py:room=6`.
    room: float = option(
        4.0, "points for an empty cell that some number fits", minimum=0, maximum=50
    )

    def decide(self, position: Position) -> Decision:
        """The decision in a position: a placement, a Power or a RUIN."""
        # What may be decided: position.placements(), position.powers(), position.ruins().
        if not position.in_magdagdon():
            return max(
                position.placements(), key=lambda place: self.worth(position.after(place), position)
            )
        if position.powers_left:
            return next(power for power in position.powers() if power.kind == "reroll")
        return max(position.ruins(), key=lambda ruin: self.worth(position.after(ruin), position))

    def worth(self, board: int, position: Position) -> float:
        """What a board is worth, in points: its score (R21-R25), and its room."""
        usable = [cell for cell in empty_cells(board) if self.fits(board, cell, position)]
        return position.score(board) + self.room * len(usable)

    def fits(self, board: int, cell: int, position: Position) -> bool:
        """Whether some number fits on an empty cell between its neighbours (R10)."""
        row, column = divmod(cell, 4)
        beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        cells = [4 * r + c for r, c in beside if 0 <= r < 4 and 0 <= c < 4]
        numbers = [n for n in (cell_value(board, at) for at in cells) if 1 <= n <= 6]
        most = position.rules.max_difference
        return any(all(abs(die - number) <= most for number in numbers) for die in range(1, 7))
