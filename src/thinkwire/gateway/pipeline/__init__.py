"""One request from its body to the end of its answer."""
