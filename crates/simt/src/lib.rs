//! Runs one GPU kernel launch on the CPU, with checks and counters.
