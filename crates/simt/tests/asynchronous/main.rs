//! Hopper's asynchronous machine: clusters, mbarriers, bulk copies and products of warpgroups.

mod argument_defects;
mod barrier_defects;
#[path = "../borrowed/mod.rs"]
mod borrowed;
mod cluster_defects;
mod copies;
mod copy_defects;
mod counters;
mod dependent_defects;
mod harness;
mod pipeline;
mod product_defects;
mod products;
mod register_defects;
