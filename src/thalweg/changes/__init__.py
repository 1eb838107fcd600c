"""Change alarms: where level, trend, variance or relations of a target change."""
