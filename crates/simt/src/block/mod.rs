//! One running block: its threads and warps, how a thread begins an instruction, and how a finding
//! ends the block.

mod cluster;
mod diagnosis;
mod entry;
mod exits;
mod failure;
mod peers;
mod state;
mod thread;
mod waiting;
mod warp;

pub(crate) use cluster::Cluster;
pub(crate) use state::{Block, Counters, count};
pub(crate) use thread::{Thread, Wait};
pub(crate) use warp::Warp;
