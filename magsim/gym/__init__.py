"""MAGDAGDON as an environment of Gymnasium; importing this registers ``magsim/Magdagdon-v0``.

It needs the extra ``magsim[gym]``, and nothing else in magsim imports it.
"""

try:
    import gymnasium
except ImportError as error:
    raise ImportError("magsim.gym needs Gymnasium: pip install 'magsim[gym]'") from error

ID = "magsim/Magdagdon-v0"

# The longest game by allowed actions has 41 of them: every cell by itself, and nine Powers. The
# rest is for learners that ignore the mask.
gymnasium.register(ID, "magsim.gym.environment:Magdagdon", max_episode_steps=1000)
