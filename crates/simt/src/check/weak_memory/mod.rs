//! Loads that return a store other than the last: the history of atomic words, and predictions from run to run.
//!
//! | module | content |
//! |---|---|
//! | `history` | the last stores of atomic words |
//! | `stale_loads` | the store that a load returns |
//! | `published` | releases of atomic writes |
//! | `announced` | the atomic access that a thread is about to make |
//! | `changes` | the thread that last changed a word |
//! | `prediction` | predictions from one run of a launch to another: loads that return later stores |
//! | `later_stores` | how a run makes such a load happen |
//! | `buffering` | a block's part in it |

pub(super) mod announced;
pub(super) mod buffering;
pub(super) mod changes;
pub(super) mod history;
pub(super) mod later_stores;
pub(super) mod prediction;
pub(super) mod published;
pub(super) mod stale_loads;
