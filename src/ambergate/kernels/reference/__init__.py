"""What each native kernel computes, in readable Python."""
