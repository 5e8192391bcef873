"""Conformance programs: PyGPU functions of one construct each, plain Python all of them.

Each file holds a topic. A program's images are chosen by the names of its parameters, see
`suite.IMAGES`; other parameters get the values given to the decorator: at the call where they are
annotated, at compile time where they are not. tests/test_conformance.py runs them.
"""
