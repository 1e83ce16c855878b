"""The same workloads by other engines, each in a module that speaks ``benchmarks.protocol``.

They import nothing of ambergate and run in an environment of their own (``make bench-peers``).
"""
