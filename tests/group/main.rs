//! Groups of devices: their results have the bits of one device.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod collectives;
mod epilogues;
mod making;
mod matmul;
mod matrices;
mod processes;
mod ranks;
mod reduce;

use common::cuda_device;
use std::fmt::Debug;
use tilewright::{DeviceGroup, ErrorKind, GroupError};

/// Simulated groups of all sizes that are tested, and groups of as many CUDA devices as there are.
fn groups() -> Vec<DeviceGroup> {
    const RANKS: [usize; 5] = [1, 2, 3, 4, 7];
    let simulated = RANKS.map(|ranks| DeviceGroup::simulated(ranks).unwrap());
    let mut groups = Vec::from(simulated);
    if cuda_device().is_some() {
        let of_cuda = |ranks| DeviceGroup::new(0..ranks).ok();
        groups.extend((1..).map_while(of_cuda));
    }
    groups
}

/// The fault of a group that a call returns.
#[track_caller]
fn fault<T: Debug>(result: tilewright::Result<T>) -> GroupError {
    match result.unwrap_err().into_kind() {
        ErrorKind::Group(error) => error,
        kind => panic!("{kind}"),
    }
}
