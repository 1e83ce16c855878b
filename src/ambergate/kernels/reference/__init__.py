"""The readable definition of each native kernel; slow, and what the kernels are tested against."""
