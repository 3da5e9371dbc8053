"""The 2008 paper (Chakrabarti, Khanna, Sawant and Bhattacharyya): every training rule by every test measure."""
