"""`python -m dobandit` is the program `dobandit`."""

from dobandit.cli import main

main()
