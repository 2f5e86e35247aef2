"""A game at the prompt: a person against the dice, with a hint, a rival and a post-mortem."""
