"""The 2006 paper (Burges, Ragno and Le): the speed-up of RankNet, and RankNet against LambdaRank in nets."""
