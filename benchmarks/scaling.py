"""One list of 4,000 to 512,000 documents: `lambdaboost bench --only scaling`, with its options."""

import sys

from lambdaboost.cli import main

sys.argv[1:1] = ["bench", "--only", "scaling"]
main()
