//! The order of accesses: vector clocks, and what barriers and fences order.
//!
//! | module | content |
//! |---|---|
//! | `clock` | vector clocks, compressed |
//! | `thread_clocks` | the clocks of a block's threads; threads that a barrier has made equal share one |
//! | `block_clock` | the clock of the threads of one block |
//! | `block_clocks` | the clocks of many blocks, with shared structure |
//! | `known_clock` | the clock that the last comparison used |
//! | `happens_before` | the accesses before one thread, and before its fences |
//! | `barrier_order` | the order that a barrier passes from arriving threads to waiting ones |
//! | `order` | the order that barriers and fences establish |

pub(super) mod barrier_order;
pub(super) mod block_clock;
pub(super) mod block_clocks;
pub(super) mod clock;
pub(super) mod happens_before;
pub(super) mod known_clock;
pub(super) mod order;
pub(super) mod thread_clocks;
