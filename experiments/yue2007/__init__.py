"""Figure 1 and Table 1 of Yue and Burges (2007), with Figure 2's sweep of weights, on any data set."""
