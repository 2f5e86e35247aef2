"""Bots that never return are stopped, with one sentence."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import numpy as np
import pytest
from asked import OPEN, STUCK, batched, fault_of, many, plain, positions, sentence

from magsim.asking import Watch, read_note
from magsim.bot import Position
from magsim.decision import Decision
from magsim.referee import Referee
from magsim.rules import PEACEFUL


def warm_up() -> None:
    """Have the kernels compiled before the clock runs."""
    for text in (OPEN, STUCK):
        asked = positions(text)
        watch = Watch(600)
        Referee(plain(lambda at: at.decisions()[-1]), PEACEFUL, watch).ask(asked, np.array([1]), 1)
        watch.close()


@pytest.fixture
def short() -> Iterator[Watch]:
    warm_up()
    watch = Watch(0.3)
    yield watch
    watch.close()


def loop(_: object) -> Decision:
    while True:
        pass


def sleep(_: object) -> Decision:
    while True:
        time.sleep(60)


def stubborn(_: object) -> Decision:
    while True:
        try:
            time.sleep(60)
        except Exception:
            continue


@pytest.mark.parametrize("never", [loop, sleep, stubborn])
@pytest.mark.parametrize("make", [plain, batched])
def test_a_bot_that_never_returns_is_stopped(make, never, short):
    assert fault_of(make(never), positions(OPEN), short) == sentence(
        "gave no answer within 0.3 s", OPEN
    )


def test_time_is_up_for_one_decision_and_not_for_many():
    """Five decisions of 0.3 s each, where one may take 1 s."""

    def answer(position: Position) -> Decision:
        time.sleep(0.3)
        return position.decisions()[0]

    warm_up()
    watch = Watch(1.0)
    decisions, _ = Referee(plain(answer), PEACEFUL, watch).ask(positions(*many(5)), np.arange(5), 1)
    watch.close()
    assert len(decisions) == 5


def test_after_a_stop_the_next_bot_has_its_time(short):
    """Nothing of the first one's alarm is left."""
    fault_of(plain(loop), positions(OPEN), short)
    time.sleep(0.35)
    bot = plain(lambda at: at.decisions()[0])
    decisions, _ = Referee(bot, PEACEFUL, short).ask(positions(OPEN), np.array([1]), 1)
    assert len(decisions) == 1


def test_a_bot_that_cannot_be_interrupted_ends_with_its_process(tmp_path):
    """It swallows whatever is raised in it. What it was asked is found in the note it left."""
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from magsim import asking
        from magsim.bot import Bot
        from magsim.rules import PEACEFUL
        from magsim.simulate import PowerFirst, play_games

        class Deaf(Bot):
            spec = "deaf"
            def decide(self, position):
                if position.board == 0:
                    return position.placements()[0]
                while True:
                    try:
                        while True:
                            pass
                    except BaseException:
                        pass

        warm = asking.Watch(600)
        play_games(PowerFirst(), PEACEFUL, 0, 0, 1, warm)
        warm.close()
        asking.GRACE = 0.5
        play_games(Deaf(), PEACEFUL, 3, 12, 1, asking.Watch(1.0, Path(sys.argv[1])))
        """
    )
    note = tmp_path / "note"
    run = subprocess.run([sys.executable, "-c", script, str(note)], timeout=120, check=False)
    assert run.returncode == 1
    asked = read_note(note)
    assert asked is not None
    assert (asked.game, asked.turn, asked.batch, asked.powers_left) == (12, 2, 1, 3)
    assert asked.board != 0


def test_before_the_first_question_there_is_no_note(tmp_path):
    assert read_note(tmp_path / "none") is None
    watch = Watch(600, tmp_path / "note")
    watch.close()
    assert read_note(tmp_path / "note") is None
