"""What is built: sizing in closed form, from integers alone."""
