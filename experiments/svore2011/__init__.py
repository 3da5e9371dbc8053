"""The 2011 paper (Svore, Volkovs and Burges): graded and iteration-dependent objectives, Tables 1 and 2, Figures 2-7."""
