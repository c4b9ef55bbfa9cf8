"""softlabel."""
