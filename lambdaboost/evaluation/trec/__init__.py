"""TREC runs and qrels, as files and as frames."""
