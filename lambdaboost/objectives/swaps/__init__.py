"""What a swap of two documents is worth in each measure, |ΔZ|: one measure a file."""
