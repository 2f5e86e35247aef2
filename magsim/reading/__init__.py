"""What only reads a run: questions in SQL, recorded games replayed and explained."""
