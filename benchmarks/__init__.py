"""Questions of speed, one a file; each prints JSON lines.

``python -m benchmarks.jobs`` whole jobs against other engines, ``benchmarks.gate_cost`` what the
gate costs, ``benchmarks.pause`` how soon a running job stands still; ``benchmarks/kernels`` holds
pytest-benchmark files for single kernels.
"""
