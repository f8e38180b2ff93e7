"""Mutation testing: change one thing in the code, and see whether a test fails.

`make mutants` draws a seeded sample of mutants from some rooms of the package and prints how many of them the tests
kill, and which survive. First all tests run without a mutant, to record which functions each of them calls. A mutant is
then judged by the tests that call its function, the most specific ones first. Documentation is no judge: the commands
that docs show and doctests are left out. Everything happens in copies, so the working tree never changes.
"""
