"""From features and a few labels to a score."""
