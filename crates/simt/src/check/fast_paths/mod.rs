//! The fast paths: a few words at hand show that an access is allowed. The rules of `cells` check all other accesses.
//!
//! | module | content |
//! |---|---|
//! | `one_cell` | loads and stores of one cell of shared memory: the fastest path |
//! | `quick` | accesses of several cells |
//! | `single_event` | the comparison with a cell that is a single event |
//! | `recent_steps` | how the running thread's reads changed sets of readers lately |
//! | `recent_regions` | the regions that a block has used lately |

pub(super) mod one_cell;
pub(super) mod quick;
pub(super) mod recent_regions;
pub(super) mod recent_steps;
pub(super) mod single_event;
