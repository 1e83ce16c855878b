"""Readable definitions of the native kernels, for tests and for readers."""
