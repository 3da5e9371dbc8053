"""What the engines share: leaves, checkpoints, progress, warnings, saved models."""
