"""From a spec and a catalogue to a plan: enumerate, evaluate, choose."""
