"""RankNet pair by pair and factored, in time: `lambdaboost reproduce burges2006 --only speed`, with its options."""

import sys

from lambdaboost.cli import main

sys.argv[1:1] = ["reproduce", "burges2006", "--only", "speed"]
main()
