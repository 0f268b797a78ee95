//! Exchange with other code that drives the same GPU in the same process.

#[cfg(feature = "cust")]
#[cfg_attr(docsrs, doc(cfg(feature = "cust")))]
pub mod cust;
pub mod raw;
