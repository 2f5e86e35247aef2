"""A game at the prompt: a person against the dice, with a hint, a rival and a post-mortem."""

ENGLISH = "en"
LANGUAGES = (ENGLISH, "pl", "tr", "he")
"""What the prompt speaks; each but English has its catalogue in ``locale``."""
