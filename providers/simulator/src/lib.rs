//! A fleet of GPUs in memory, and behind a libnvidia-ml.so.

#![forbid(unsafe_code)]
