"""Rendering: results in, something to read out."""
