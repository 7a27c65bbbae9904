"""What the job asks of the network."""
