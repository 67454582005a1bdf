"""The rejected-edit memory (method.md, gate): what was tried and did not hold, keyed by the meaning of the edit."""
