"""From an engine's callback to λ or a measure: which booster calls, in which round, on which data."""
