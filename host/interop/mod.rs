//! Exchange with other crates that drive the same GPU.

pub mod cust;
