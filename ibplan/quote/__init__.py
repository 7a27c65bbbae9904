"""A vendor's quote read from a file, matched to parts, held against the bill. Nothing is guessed in silence."""
