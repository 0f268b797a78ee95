//! The checks of memory: data races, reads of bytes that have not been written, and
//! asynchronous copies that are used before they have arrived.
//!
//! | module | content |
//! |---|---|
//! | `findings` | the findings that a launch has survived |
//! | `event` | one access, as the shadow records it; `packed`, in 12 bytes |
//! | `site` | its line |
//! | `clock` | vector clocks, compressed |
//! | `block_clocks` | the clocks of many blocks, with shared structure |
//! | `block_clock` | the clock of the threads of one block |
//! | `handed` | the order that a barrier passes on |
//! | `happens_before` | the order before one thread, and that of its fences |
//! | `accessor` | the running thread, and its order relative to other accesses |
//! | `readers` | the reads since a write |
//! | `reader_sets` | those of cells of shared memory, which many cells share |
//! | `recent` | how the reads of the running thread change such cells |
//! | `updates` | the atomic updates since a write |
//! | `cell` | the last accesses of a few bytes, and the rules |
//! | `others` | cells whose state does not fit in a few words |
//! | `shadow`, `shared_page`, `shared_cell`, `cell_reads` | the cells of shared memory |
//! | `hasher` | a hash of numbers |
//! | `region`, `cells`, `read_only` | the cells of a region of global memory |
//! | `published` | releases of atomic writes |
//! | `history`, `stale` | the last stores of atomic words, and the one that a load returns |
//! | `prediction` | predictions from one run of a launch to another: loads that return later stores |
//! | `later_stores`, `buffering` | how a run, and a block of it, make such a load happen |
//! | `changes` | the thread that last changed a word |
//! | `global` | the shadow that all blocks of a launch share |
//! | `nearby` | the regions that a block has used lately |
//! | `block` | the checks of one running block |
//! | `order` | the order that barriers and fences establish |
//! | `announced` | the atomic access that a thread is about to make |
//! | `atomics` | the values and the order of atomic operations |
//! | `clusters` | the blocks that form one cluster |
//! | `access` | the check of one access against the shadow |
//! | `quick`, `plain` | the fast path of most accesses |
//! | `at_once` | the fastest path, of loads and stores |
//! | `survived` | conflicts that a launch survives |
//! | `copies` | asynchronous copies between issue and wait |
//! | `agents` | bulk copies and tensor cores, modelled as threads |
//! | `mbarriers` | the order that mbarriers establish |
//! | `asynchronous` | the accesses of bulk copies and products |
//! | `layout`, `layouts` | the swizzles of tiles that bulk copies have written |
//! | `remote` | accesses by other blocks of the cluster |
//! | `report`, `asynchronous_report` | the description of a conflict |
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
mod agents;
mod announced;
mod asynchronous;
mod asynchronous_report;
mod at_once;
mod atomics;
mod block;
mod block_clock;
mod block_clocks;
mod buffering;
mod cell;
mod cell_reads;
mod cells;
mod changes;
mod clock;
mod clusters;
mod copies;
mod event;
mod findings;
mod global;
mod handed;
mod happens_before;
mod history;
mod known_clock;
mod later_stores;
mod layout;
mod layouts;
mod mbarriers;
mod nearby;
mod order;
mod others;
mod place;
mod plain;
mod prediction;
mod published;
mod quick;
mod read_only;
mod reader_sets;
mod readers;
mod recent;
mod region;
mod remote;
mod report;
mod shadow;
mod shared_cell;
mod shared_page;
mod site;
mod stale;
mod survived;
mod thread_clocks;
mod updates;

pub(crate) use agents::Agent;
pub(crate) use asynchronous::{Extent, Issue};
pub(crate) use at_once::{AtOnce, CellOf};
pub(crate) use block::BlockCheck;
pub(crate) use clusters::Clusters;
pub(crate) use copies::Hazard;
pub(crate) use findings::Findings;
pub(crate) use global::{Conditions, LaunchCheck};
pub(crate) use handed::Handed;
pub(crate) use later_stores::{LaterStores, Record};
pub(crate) use prediction::{Prediction, Suggestions};
pub(crate) use recent::{Line, NO_STEPS, RecentSteps};
pub(crate) use shared_page::MAX_CELL_BYTES;
