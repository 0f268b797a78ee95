//! The checks of memory: data races, reads of bytes that have not been written, and
//! asynchronous copies that are used before they have arrived.
//!
//! | module | content |
//! |---|---|
//! | `block` | the checks of one running block |
//! | `global` | the shadow that all blocks of a launch share |
//! | `access`, `atomics` | the check of one access; the values and the order of atomic operations |
//! | `accessor` | the running thread, and its order relative to other accesses |
//! | `fast_paths/` | the paths of most accesses |
//! | `cells/` | the last accesses of each few bytes, and the rules |
//! | `clocks/` | the order of accesses |
//! | `weak_memory/` | loads that return a store other than the last |
//! | `asynchronous/` | bulk copies, tensor cores, mbarriers, clusters |
//! | `reports/` | descriptions of conflicts |
//!
//! The checks receive the position of the accessing thread and the block's shared memory; they know neither the thread
//! nor its block.
//!
//! Each block counts its time, which advances at everything that can order two accesses. A barrier of the block, or of
//! a whole warp, orders all earlier accesses by one number. Only partial barriers, fences and atomic updates need
//! clocks with an entry for each thread.
//!
//! Only barriers and fences order memory. Shuffles and votes do not (CUDA C++
//! Programming Guide, "Warp Shuffle Functions": they "do not imply a memory
//! barrier").

mod access;
mod accessor;
mod asynchronous;
mod atomics;
mod block;
mod cells;
mod clocks;
mod fast_paths;
mod global;
mod reports;
mod weak_memory;

pub(crate) use asynchronous::accesses::{Extent, Issue};
pub(crate) use asynchronous::agents::Agent;
pub(crate) use asynchronous::clusters::Clusters;
pub(crate) use asynchronous::copies::Hazard;
pub(crate) use block::BlockCheck;
pub(crate) use cells::shared_page::MAX_CELL_BYTES;
pub(crate) use clocks::barrier_order::BarrierOrder;
pub(crate) use fast_paths::recent_steps::{Line, NO_STEPS, RecentSteps};
pub(crate) use global::{Conditions, LaunchCheck};
pub(crate) use reports::findings::Findings;
pub(crate) use weak_memory::later_stores::{LaterStores, Record};
pub(crate) use weak_memory::prediction::{Prediction, Suggestions};
