"""Floor 4: whole experiments of the papers by one command, on any data set."""
