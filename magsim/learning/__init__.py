"""A turn in small actions, and bots that decide by a policy over them; no learner is in here."""
