//! One simulated thread, and its wait.

use crate::basics::Position;
use crate::state::{BulkGroups, Confinement, CopyQueue, Fragments, GRID_BARRIER};
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// The wait of a thread that is not running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Nothing: it runs, or it will run at its warp's next turn.
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
    /// Its accumulators that are with the tensor cores.
    pub fragments: RefCell<Fragments>,
    /// The phase of the cluster's barrier at which it has arrived and for which it has not waited.
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
    pub site: Cell<&'static Location<'static>>,
    pub copies: RefCell<CopyQueue>,
    /// Its asynchronous operations: boxed, because most threads have none.
    pub machine: Box<OfMachine>,
    /// Whether it has waited for the launches before.
    pub has_waited: Cell<bool>,
    /// The words that it has loaded atomically last.
    pub loaded_words: Cell<[usize; 2]>,
    /// The address of the word that it has accessed atomically last, where accesses are watched; or 0.
    pub last_word: Cell<usize>,
    /// Atomic updates in a row that have changed nothing, since it last waited.
    pub fruitless_updates: Cell<u32>,
}

/// The line of a thread that has not waited: no kernel's.
const fn nowhere() -> &'static Location<'static> {
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
            copies: RefCell::default(),
            machine: Box::default(),
            has_waited: Cell::new(false),
            loaded_words: Cell::default(),
            last_word: Cell::default(),
            fruitless_updates: Cell::new(0),
        }
    }

    /// Nothing of what it did in another block counts any more.
    pub fn begin(&mut self) {
        self.wait.set(Wait::Nothing);
        self.site.set(nowhere());
        self.copies.get_mut().clear();
        self.has_waited.set(false);
        self.loaded_words.take();
        self.last_word.set(0);
        self.fruitless_updates.set(0);
    }

    /// Nor does what it had the asynchronous machine do.
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
    pub fn last_wait(&self) -> Option<&'static Location<'static>> {
        Some(self.site.get()).filter(|site| site.file() != file!())
    }

    /// Suspends the thread, which must be the running one, for `wait`. The end of the
    /// wait puts it back among the ready lanes of its warp.
    #[inline]
    pub fn wait_for(&self, wait: Wait, site: &'static Location<'static>) {
        self.site.set(site);
        self.fruitless_updates.set(0);
        self.wait.set(wait);
        self.confinement.suspend();
        self.wait.set(Wait::Nothing);
    }
}
