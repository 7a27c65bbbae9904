"""A discovered fabric or a cable list, held against a plan or made into a spec. Nothing is guessed in silence."""
