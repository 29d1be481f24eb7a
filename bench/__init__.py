"""Side-by-side measurements of thinkwire and its peers. Nothing here is part of the product."""
