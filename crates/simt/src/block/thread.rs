//! One simulated thread, and the reason for which it waits.

use crate::basics::{CallSite, Position, SourceLine};
use crate::state::{BulkGroups, Confinement, CopyQueue, Fragments, GRID_BARRIER};
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// The reason for which a thread does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// None: the thread runs, or will at its warp's next turn.
    Nothing,
    /// It waits at the block barrier of this number.
    Barrier(u32),
    /// It waits for the lanes of a warp-wide operation.
    Collective { kind: &'static str, mask: u64 },
    /// It waits for the lanes of its warp that are at the same line.
    Converge,
    /// It waits for the phase of this parity of the mbarrier at this offset.
    Mbarrier { offset: usize, parity: bool },
    /// It waits at the barrier of the cluster.
    ClusterBarrier,
    /// It waits until the other warps of its warpgroup have issued their products.
    Products,
    /// It waits for registers.
    Registers,
    /// It lets other warps run.
    Yield,
    /// It has returned from the kernel.
    Exited,
}

impl Wait {
    /// Whether it is for all threads of the grid.
    pub fn is_for_grid(self) -> bool {
        self == Self::Barrier(GRID_BARRIER)
    }
}

/// The asynchronous operations of a thread.
#[derive(Default)]
pub(crate) struct OfMachine {
    /// Its bulk stores.
    pub bulk: RefCell<BulkGroups>,
    /// Its accumulators that the tensor cores hold.
    pub fragments: RefCell<Fragments>,
    /// The first operand of the product that the thread issues, if it is in registers.
    pub a_registers: Cell<[u32; 4]>,
    /// The phase of the cluster's barrier at which it has arrived without having waited.
    pub cluster_arrival: Cell<Option<u64>>,
}

/// One simulated thread.
pub(crate) struct Thread {
    pub position: Position,
    /// Its number in its block.
    pub number: u32,
    pub confinement: Confinement,
    pub wait: Cell<Wait>,
    /// The kernel line of the last instruction that had to wait.
    pub site: Cell<CallSite>,
    /// The line of its instructions while it does not run, if another one than that of their call.
    pub line: Cell<Option<SourceLine>>,
    pub copies: RefCell<CopyQueue>,
    /// Its asynchronous operations: boxed, because most threads have none.
    pub machine: Box<OfMachine>,
    /// Whether it has waited for the earlier launches.
    pub has_waited: Cell<bool>,
    /// The words that it loaded atomically last.
    pub loaded_words: Cell<[usize; 2]>,
    /// The address of the word that it accessed atomically last; 0 if there is none, or accesses are not observed.
    pub last_word: Cell<usize>,
    /// Successive atomic updates without a change since it last waited.
    pub fruitless_updates: Cell<u32>,
}

/// The line of a thread that has not waited, which is in no kernel.
const fn nowhere() -> CallSite {
    Location::caller()
}

impl Thread {
    /// A thread that has not started.
    pub fn new(position: Position) -> Self {
        Self {
            number: position.thread(),
            position,
            confinement: Confinement::new(),
            wait: Cell::new(Wait::Nothing),
            site: Cell::new(nowhere()),
            line: Cell::new(None),
            copies: RefCell::default(),
            machine: Box::default(),
            has_waited: Cell::new(false),
            loaded_words: Cell::default(),
            last_word: Cell::default(),
            fruitless_updates: Cell::new(0),
        }
    }

    /// Resets the state from the previous block.
    pub fn begin(&mut self) {
        self.wait.set(Wait::Nothing);
        self.site.set(nowhere());
        self.line.set(None);
        self.copies.get_mut().clear();
        self.has_waited.set(false);
        self.loaded_words.take();
        self.last_word.set(0);
        self.fruitless_updates.set(0);
    }

    /// Resets the thread's asynchronous operations.
    pub fn begin_machine(&mut self) {
        self.machine.bulk.get_mut().clear();
        self.machine.fragments.get_mut().clear();
        self.machine.cluster_arrival.set(None);
    }

    /// This thread's bit in the masks of its warp.
    #[inline]
    pub fn lane_bit(&self) -> u64 {
        self.position.lane_bit()
    }

    /// Whether the thread waits in the middle of the kernel.
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub fn is_suspended(&self) -> bool {
        !matches!(self.wait.get(), Wait::Nothing | Wait::Exited)
    }

    /// The line at which it last had to wait in this block.
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub fn last_wait(&self) -> Option<CallSite> {
        Some(self.site.get()).filter(|site| site.file() != file!())
    }

    /// Suspends the thread, which must be the running one, until `wait` is over and it is a ready
    /// lane of its warp again.
    #[inline]
    pub fn wait_for(&self, wait: Wait, site: CallSite) {
        self.site.set(site);
        self.fruitless_updates.set(0);
        self.wait.set(wait);
        self.confinement.suspend();
        self.wait.set(Wait::Nothing);
    }
}
