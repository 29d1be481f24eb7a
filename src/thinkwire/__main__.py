"""`python -m thinkwire`."""

from thinkwire.cli import main

main()
