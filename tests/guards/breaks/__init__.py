"""Each module here takes one guard out when it is imported; `test_guards.py` loads it into a pytest of its own."""
