//! Hopper's asynchronous machine: clusters, mbarriers, bulk copies and products of warpgroups.

mod barrier_defects;
mod cluster_defects;
mod copies;
mod copy_defects;
mod harness;
mod product_defects;
mod products;
