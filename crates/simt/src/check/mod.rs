//! The checks of memory: data races, reads of what nobody has written, and
//! asynchronous copies that are used before they have arrived.
//!
//! | module | what it holds |
//! |---|---|
//! | `event` | one access, as the shadow remembers it |
//! | `clock` | what is known to have happened before |
//! | `shadow` | the last accesses of each few bytes, and the rules |
//! | `global` | the shadow that all blocks of a launch share |
//! | `order` | what barriers, fences and atomic updates order |
//! | `access` | one access against the shadow |
//! | `copies` | asynchronous copies between issue and wait |
//! | `report` | a conflict in words |
//!
//! Time is counted per block: it grows at everything that can order two
//! accesses. A barrier of the block, or of a whole warp, orders all that came
//! before with one number; only partial barriers, fences and atomic updates
//! need clocks with an entry for each thread.
//!
//! Only barriers and fences order memory. Shuffles and votes do not (CUDA C++
//! Programming Guide, "Warp Shuffle Functions": they "do not imply a memory
//! barrier").

mod access;
mod clock;
mod copies;
mod event;
mod global;
mod order;
mod report;
mod shadow;

pub(crate) use access::record;
pub(crate) use copies::Hazard;
pub(crate) use global::LaunchCheck;
pub use order::FenceScope;
pub(crate) use order::{acquire, fence, release};

use crate::allocation::NoMemory;
use crate::block::{Block, Thread};
use crate::current::try_instruction;
use crate::reserve;
use clock::SharedKnowledge;
use event::Time;
use shadow::{Observer, Page};
use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

/// What barriers, fences and atomic updates have taught a thread, beyond what
/// the last barriers of its block and of its whole warp order.
#[derive(Default)]
struct Learned {
    /// What is ordered before the thread.
    ordered: SharedKnowledge,
    /// By scope, block first: what the thread's fences have released; its
    /// next atomic updates publish it.
    released: [SharedKnowledge; 2],
    /// By scope: what its atomic updates have read; its next fence orders it.
    observed: [SharedKnowledge; 2],
}

/// A page of the shadow of shared memory.
struct SharedPage {
    /// The block whose accesses it holds.
    generation: u64,
    page: Page,
}

/// The checks of one running block.
pub(crate) struct BlockCheck {
    launch: Arc<LaunchCheck>,
    block: u32,
    warp_width: u32,
    now: Cell<Time>,
    /// The last barrier of the whole block.
    block_barrier: Cell<Time>,
    /// The last barrier of each whole warp.
    warp_barriers: Vec<Cell<Time>>,
    threads: Vec<RefCell<Learned>>,
    /// Whether any thread has learned anything.
    has_learned: Cell<bool>,
    /// By address: what this block's atomic updates have published to it.
    published: RefCell<HashMap<usize, SharedKnowledge>>,
    /// Counts the blocks that this state has served.
    generation: u64,
    shared: RefCell<Vec<SharedPage>>,
}

impl BlockCheck {
    pub fn new(threads: u32, warp_width: u32) -> Self {
        Self {
            launch: Arc::new(LaunchCheck::new()),
            block: 0,
            warp_width,
            now: Cell::new(1),
            block_barrier: Cell::new(0),
            warp_barriers: (0..threads.div_ceil(warp_width))
                .map(|_| Cell::new(0))
                .collect(),
            threads: (0..threads).map(|_| RefCell::default()).collect(),
            has_learned: Cell::new(false),
            published: RefCell::default(),
            generation: 0,
            shared: RefCell::default(),
        }
    }

    /// Makes this the state of block number `index`.
    pub fn begin(&mut self, launch: &Arc<LaunchCheck>, index: u64) {
        if !Arc::ptr_eq(&self.launch, launch) {
            self.launch = Arc::clone(launch);
        }
        self.block = index as u32;
        self.generation += 1;
        self.now.set(1);
        self.block_barrier.set(0);
        self.warp_barriers.iter().for_each(|time| time.set(0));
        self.forget_learned();
    }

    /// Lets go of what the threads have learned, which other blocks share.
    pub fn forget_learned(&mut self) {
        if self.has_learned.replace(false) {
            for learned in &mut self.threads {
                *learned.get_mut() = Learned::default();
            }
            self.published.get_mut().clear();
        }
    }

    /// This moment; all that follows is later.
    fn tick(&self) -> Time {
        let now = self.now.get();
        self.now.set(now + 1);
        now
    }

    /// Calls `action` with the running thread as it sees other accesses.
    #[inline]
    fn observe<R>(&self, thread: &Thread, action: impl FnOnce(&Observer<'_>) -> R) -> R {
        let (lane, warp) = (thread.position.lane, thread.position.warp);
        let first = warp * self.warp_width;
        let number = first + lane;
        let learned: Option<Ref<'_, Learned>> = self
            .has_learned
            .get()
            .then(|| self.threads[number as usize].borrow());
        action(&Observer {
            block: self.block,
            thread: number as u16,
            warp: first as u16..(first + self.warp_width) as u16,
            block_barrier: self.block_barrier.get(),
            warp_barrier: self.warp_barriers[warp as usize].get(),
            knowledge: learned
                .as_ref()
                .and_then(|learned| learned.ordered.as_deref()),
        })
    }

    /// Calls `action` with a page of the shadow of shared memory.
    #[inline]
    fn with_shared_page<R>(
        &self,
        number: usize,
        action: impl FnOnce(&mut Page) -> R,
    ) -> Result<R, NoMemory> {
        let mut pages = self.shared.borrow_mut();
        while pages.len() <= number {
            pages.try_reserve(1).map_err(|_| reserve::release())?;
            pages.push(SharedPage {
                generation: 0,
                page: Page::new()?,
            });
        }
        let shared = &mut pages[number];
        if shared.generation != self.generation {
            shared.generation = self.generation;
            shared.page.clear();
        }
        Ok(action(&mut shared.page))
    }
}

/// Calls `action` with the running thread, its block and the block's checks,
/// unless there are none.
#[inline]
fn with_check(
    site: Option<&'static Location<'static>>,
    action: impl FnOnce(&Thread, &Block, &BlockCheck),
) {
    try_instruction(site, |thread, block| {
        if let Some(check) = &block.check
            && !block.is_abandoned()
        {
            action(thread, block, check);
        }
    });
}
