"""What only the commands reproduce, accuracy, bench and demo need."""
