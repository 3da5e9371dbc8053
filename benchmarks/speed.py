"""λ, μ and whole trainings against the engines' own objectives: `lambdaboost bench --only speed`, with its options."""

import sys

from lambdaboost.cli import main

sys.argv[1:1] = ["bench", "--only", "speed"]
main()
