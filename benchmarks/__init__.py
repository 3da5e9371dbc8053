"""Speed and memory on the user's own machine, beside the engines' own objectives: ``lambdaboost bench``."""
