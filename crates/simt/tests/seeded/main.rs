//! Seeded defects, each with a twin without it. The defect is found under each of 32 seeds, and the twin is silent
//! under the same. Defects that depend on how threads interleave are found under some of the seeds.

mod again;
mod atomic_model;
mod atomics;
mod axioms;
mod barrier_model;
mod barriers;
#[path = "../borrowed/mod.rs"]
mod borrowed;
mod bounds;
mod caches;
mod causality;
mod copies;
mod findings;
mod freed;
mod global;
mod grids;
mod harness;
mod interleaving;
mod later_stores;
mod litmus;
mod messages;
mod model;
mod peers;
mod policies;
mod readers;
mod reductions;
mod releases;
mod shared;
mod turns;
mod uninitialised;
mod waiting;
mod weak_model;
