"""Files for the programs that run a fabric: one module a target, all with the same names and addresses."""
