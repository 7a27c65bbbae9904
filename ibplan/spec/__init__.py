"""What the user asks for: the spec, its reader and its JSON Schema."""
