"""The 2011 paper (Svore, Volkovs and Burges): graded and iteration-dependent objectives."""
