//! The last accesses of each few bytes, and the rules that compare a new access with them.
//!
//! | module | content |
//! |---|---|
//! | `event` | one access, as the shadow records it; `packed`, in 12 bytes |
//! | `site` | its source line |
//! | `readers` | the reads since a write |
//! | `reader_sets` | the reads of cells of shared memory, in sets that many cells share |
//! | `updates` | the atomic updates since a write |
//! | `cell` | the last accesses of a few bytes, and the rules |
//! | `spilled` | cells whose state does not fit in a few words |
//! | `region` | a region of global memory |
//! | `global_cells` | the cells of a region |
//! | `read_only` | regions that no thread has written |
//! | `shared_shadow` | the cells of shared memory |
//! | `shared_page` | a page of these cells |
//! | `shared_cell` | the last write of such a cell |
//! | `shared_reads` | the reads of such cells |

pub(super) mod cell;
pub(super) mod event;
pub(super) mod global_cells;
pub(super) mod read_only;
pub(super) mod reader_sets;
pub(super) mod readers;
pub(super) mod region;
pub(super) mod shared_cell;
pub(super) mod shared_page;
pub(super) mod shared_reads;
pub(super) mod shared_shadow;
pub(super) mod site;
pub(super) mod spilled;
pub(super) mod updates;
