"""What a run over a table is made of: its session, its checkpoint and its files."""
