"""Native core of ambergate: gate, ring and row kernels. Imports nothing from ambergate."""
