"""How a plan is shown: data (JSON, YAML), tables, Markdown, CSV. Computes nothing."""
