"""Bot specs that are refused, and by which sentence."""

import pytest

from magsim.errors import MagsimError
from magsim.registry import load_bot


def refusal(text: str) -> str:
    with pytest.raises(MagsimError) as error:
        load_bot(text)
    assert error.value.exit_code == 2
    return str(error.value)
