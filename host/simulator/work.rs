//! Work of a simulated stream as data, to run at once or when a graph is launched.

use super::stream_check::MemoryAccess;
use crate::backend::Entry;
use crate::launch::LaunchConfig;
use cuda_std::kernel::LaunchBounds;
use simt::ViewName;
use std::collections::HashMap;
use std::sync::Arc;

/// A launch with all that it needs to run, now or later.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) entry: Entry,
    pub(super) config: LaunchConfig,
    pub(super) bounds: LaunchBounds,
    pub(super) views: Arc<[ViewName]>,
    pub(super) body: simt::Body,
}

/// Work that runs when it is submitted, or was recorded to run later.
#[derive(Debug)]
pub(super) enum Work {
    Launch(Launch, Vec<MemoryAccess>),
    Copy {
        destination: u64,
        source: u64,
        bytes: usize,
    },
    Fill {
        address: u64,
        bytes: usize,
    },
}

/// The graphs that a stream has recorded, and the one that it records.
#[derive(Debug, Default)]
pub(super) struct Graphs {
    pub(super) recording: Option<Vec<Work>>,
    pub(super) made: u64,
    pub(super) graphs: HashMap<u64, Arc<[Work]>>,
}
