"""The cables of a design one by one, from its wiring and the places of its devices."""
