"""The 2007 paper (Yue and Burges): SPSA, and the empirical optimality of LambdaRank."""
