"""The experiments behind the gate's section of RESULTS.md, one idea a module. Run by `bench/gate_simulations.py`."""
