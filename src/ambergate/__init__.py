"""A dataflow engine that stops at an exact row, is looked into, repaired and let go again."""
