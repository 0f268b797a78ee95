//! Hopper's asynchronous machine: clusters, mbarriers, bulk copies and products of warpgroups.

mod copies;
mod harness;
mod products;
