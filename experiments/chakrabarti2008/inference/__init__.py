"""Most violated rankings of the structured hinges: loss-augmented inference, one measure a file."""
