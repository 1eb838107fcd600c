"""The calendar of rows: their grid of times, weekdays, holidays and seasons."""
