"""Pictures: estimates in, matplotlib figures out, in one style."""
