"""The driver is a program for builds with a sanitizer, not a module to collect."""

collect_ignore = ["two_threads.py"]
