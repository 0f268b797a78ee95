//! The state of running blocks, in pieces: each piece knows its rules, and none knows the threads that wait for it.

mod arrivals;
mod barriers;
mod bulk;
mod cluster_barrier;
mod collectives;
mod confinement;
mod convergence;
mod copies;
mod grid;
mod host_thread;
mod mbarriers;
mod preemption;
mod products;
mod progress;
mod registers;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod samples;
mod shared;
mod shared_error;
mod static_layout;
mod statics;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod unwinding;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "no_unwinding.rs"]
mod unwinding;
mod watch;
mod watched;
mod yields;

pub use barriers::BarrierId;
pub use bulk::{Swizzle, TensorMap, TensorMapFields};
pub use collectives::LaneValues;
pub use products::{ElementType, Major, Operand, Wgmma};
pub use shared::MAX_SHARED_BYTES;
pub use shared_error::MAX_STATIC_SHARED_BYTES;

pub(crate) use arrivals::Arriver;
pub(crate) use barriers::{
    Barrier, BarrierOperation, Barriers, GRID_BARRIER, Mismatch, barrier_name, divergence_at,
};
pub(crate) use bulk::{BulkGroups, Engine, IssuedStore, Job, Load, Piece, Store};
pub(crate) use cluster_barrier::ClusterBarrier;
pub(crate) use collectives::{Collectives, Rendezvous};
pub(crate) use confinement::{Confinement, Inside, Left, RESERVE_BYTES};
pub(crate) use convergence::Convergence;
pub(crate) use copies::{AsyncCopy, CopyQueue};
pub(crate) use grid::Grid;
pub(crate) use host_thread::HostThread;
pub(crate) use mbarriers::{MAX_ARRIVALS, MBARRIER_BYTES, Mbarrier, Mbarriers, Progress};
pub(crate) use preemption::{ATOMIC_WEIGHT, Preemption};
pub(crate) use products::{Descriptor, Fragments, Product, ProductQueue, Rows, WARPS};
pub(crate) use progress::NEVER;
pub(crate) use registers::{FEWEST_REGISTERS, MOST_REGISTERS, REGISTER_UNIT, Registers};
pub(crate) use shared::SharedMemory;
pub(crate) use static_layout::StaticLayout;
pub(crate) use statics::ResolvedStatics;
pub(crate) use unwinding::would_be_caught;
pub(crate) use watch::{Watch, is_counting, is_quiet, is_watching};
pub(crate) use watched::Watched;
pub(crate) use yields::Yields;
