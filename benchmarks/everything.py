"""All parts of `lambdaboost bench`, with its options; the better part of an hour."""

import sys

from lambdaboost.cli import main

sys.argv[1:1] = ["bench"]
main()
