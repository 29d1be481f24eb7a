"""How vendors of one dialect differ in what they write."""
