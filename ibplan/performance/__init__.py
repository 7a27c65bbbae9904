"""What the fabric gives the job."""
