def exit_when_readable(descriptor: int) -> None:
    """End this process, whatever it runs, once ``descriptor`` becomes readable or hangs up."""
