"""What every case of the benchmarks is run, counted and reported with."""
