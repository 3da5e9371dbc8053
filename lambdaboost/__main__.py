"""``python -m lambdaboost`` is the command ``lambdaboost``."""

from lambdaboost.cli import main

if __name__ == "__main__":
    main()
