//! Compares blocks that take the fast path with blocks that do not: both find the same conflicts.

mod steps;

use self::steps::{Action, Step};
use super::*;
use crate::basics::{AtomicOrder, CallSite, Dim3, Finding, SplitMix64};
use crate::check::asynchronous::accesses::Extent;
use crate::check::asynchronous::agents::Agent;
use crate::check::asynchronous::copies::Hazard;
use crate::check::cells::event::Time;
use crate::check::clocks::barrier_order::BarrierOrder;
use crate::check::global::{Conditions, LaunchCheck};
use crate::check::reports::findings::Findings;
use crate::state::AsyncCopy;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

const THREADS: u32 = 8;
const WARP_WIDTH: u32 = 4;
/// An address at which this process has no memory, and so in no allocation.
const GLOBAL: usize = 1 << 20;
/// The bytes that a thread accesses most.
const BYTES_PER_THREAD: usize = 32;

const KINDS: [AccessKind; 12] = [
    AccessKind::Read,
    AccessKind::Write,
    AccessKind::Read,
    AccessKind::Write,
    AccessKind::Read,
    AccessKind::Read,
    AccessKind::ReadOnly,
    AccessKind::CachedRead,
    AccessKind::Atomic,
    AccessKind::AtomicRead,
    AccessKind::AtomicWrite,
    AccessKind::AsyncRead,
];

/// The blocks of one launch.
struct Blocks {
    blocks: [OneBlock; 2],
    is_quick: bool,
    /// Accesses on the fast path.
    quick: usize,
}

/// A block, and the operations that its threads have not waited for.
struct OneBlock {
    check: BlockCheck,
    shared: SharedMemory,
    /// By thread.
    copies: [Vec<AsyncCopy>; THREADS as usize],
    /// Bulk copies to shared memory, in flight.
    loads: Vec<(Extent, Agent)>,
    /// The times up to which agents have made their accesses.
    done: Vec<(Agent, Time)>,
    /// The order that the threads have released.
    handed: BarrierOrder,
    /// The thread that made the last step.
    running: u32,
}

/// The text of a finding.
fn in_words(finding: &Finding) -> String {
    let Finding {
        kind,
        message,
        location,
        thread,
        related,
        ..
    } = finding;
    format!("{kind:?} {message} {location:?} {thread:?} {related:?}")
}

impl OneBlock {
    fn new(launch: &Arc<LaunchCheck>, index: u64) -> Self {
        let mut check = BlockCheck::new(THREADS, WARP_WIDTH).unwrap();
        check.begin(launch, index);
        Self {
            check,
            shared: SharedMemory::new(0, 1024).unwrap(),
            copies: Default::default(),
            loads: Vec::new(),
            done: Vec::new(),
            handed: BarrierOrder::default(),
            running: 0,
        }
    }

    fn access(&self, space: Space, kind: AccessKind, offset: usize, bytes: usize) -> Access {
        Access {
            space,
            kind,
            view_base: match space {
                Space::Shared => self.shared.start(),
                _ => GLOBAL,
            },
            view_bytes: 1024,
            offset,
            bytes,
            align: bytes,
            order: AtomicOrder::RELAXED,
            value: std::ptr::null(),
        }
    }

    /// Begins or completes something asynchronous, or orders threads.
    fn act(&mut self, position: &Position, action: &Action) -> Result<(), String> {
        let (check, site) = (&self.check, Location::caller());
        let thread = position.thread();
        match *action {
            Action::Access(..) | Action::Row(..) => {}
            Action::BlockBarrier => check.after_block_barrier(),
            Action::WarpBarrier => check.after_warp_barrier(position.warp),
            Action::PartialBarrier(mask) => {
                check.after_partial_barrier([(position.warp, mask)].into_iter());
            }
            Action::Issue(offset, bytes) => self.copies[thread as usize].push(AsyncCopy {
                destination: ptr::without_provenance_mut(self.shared.start() + offset),
                source: ptr::without_provenance(GLOBAL + offset),
                bytes,
                source_bytes: bytes,
                site,
                issued: check.issue_copy(),
            }),
            Action::Wait => {
                let mut copies = self.copies[thread as usize].drain(..);
                let landed = copies.try_for_each(|copy| check.land(position, &self.shared, &copy));
                landed.map_err(|hazard: Hazard| {
                    in_words(&check.describe_hazard(position, &hazard))
                })?;
            }
            Action::Load(start) => {
                let (extent, agent) = (Extent { start, bytes: 16 }, Agent::Barrier(thread as u16));
                let issue = check.issue(position, site);
                let began = check.begin_write(&issue, &self.shared, extent, agent);
                began.map_err(|finding| in_words(&finding))?;
                self.loads.push((extent, agent));
            }
            Action::Land => {
                for (extent, agent) in self.loads.drain(..) {
                    check.end_write(extent, agent).unwrap();
                    self.done.push((agent, check.moment()));
                }
            }
            Action::Store(start) => {
                let agent = (Agent::StoreReads(thread), check.moment());
                let issue = check.issue(position, site);
                let extent = Extent { start, bytes: 16 };
                let began = check.begin_read(&issue, &self.shared, extent, agent);
                began.map_err(|finding| in_words(&finding))?;
                self.done.push(agent);
            }
            Action::AcquireAgents => {
                check.acquire_agents(thread..thread + 1, self.done.iter().copied());
            }
            Action::FenceProxy => check.fence_proxy(position),
            Action::Release => self.handed.add(&check.release(position)),
            Action::Acquire => check.acquire(thread, &self.handed),
        }
        Ok(())
    }
}

/// Whether the fastest path records a load or a store of shared memory.
fn shared_at_once(
    check: &BlockCheck,
    position: &Position,
    kind: AccessKind,
    (address, range): (usize, (usize, usize)),
    site: CallSite,
) -> bool {
    match kind {
        AccessKind::Read => {
            check.load_shared_at_once(range, site)
                || check.record_in_page::<false>(position, range, address, site)
        }
        AccessKind::Write => {
            check.store_shared_at_once(position.thread(), range, site)
                || check.record_in_page::<true>(position, range, address, site)
        }
        _ => false,
    }
}

impl Blocks {
    fn new(is_quick: bool, is_exclusive: bool, first_block: u64) -> Self {
        let conditions = Conditions {
            is_exclusive,
            ..Conditions::default()
        };
        let launch = LaunchCheck::new(Findings::default(), conditions);
        let launch = Arc::new(launch);
        Self {
            blocks: [0, 1].map(|index| OneBlock::new(&launch, first_block + index)),
            is_quick,
            quick: 0,
        }
    }

    /// Makes a step, and returns its conflict as text.
    fn step(&mut self, step: &Step) -> Option<String> {
        let block = &mut self.blocks[step.block];
        if block.running != step.thread {
            block.running = step.thread;
            block.check.begin_turn();
        }
        let (grid, threads) = (Dim3::from(2), Dim3::from(THREADS));
        let position = Position::in_first_block(grid, threads, WARP_WIDTH, step.thread);
        if let Action::Access(space, kind, offset, bytes) = step.action {
            let access = block.access(space, kind, offset, bytes);
            let (check, site) = (&block.check, Location::caller());
            let range = (access.address(), (offset, bytes));
            let is_at_once = self.is_quick
                && space == Space::Shared
                && shared_at_once(check, &position, kind, range, site);
            let is_recorded =
                || is_at_once || check.record_quickly(&position, &block.shared, &access, site);
            if self.is_quick && is_recorded() {
                self.quick += 1;
                return None;
            }
            let result = check.record_access(&position, &block.shared, &access, site);
            return result.err().map(|conflict| format!("{conflict:?}"));
        }
        block.act(&position, &step.action).err()
    }
}

/// Counts, in launches of random steps after those of `first`, conflicts and accesses on the fast path.
fn compare(
    first: &[Step],
    draw: impl Fn(&mut SplitMix64) -> Step,
    rounds: u64,
) -> (Vec<String>, usize) {
    let mut random = SplitMix64::new(3, rounds);
    let (mut quick, mut conflicts) = (0, Vec::new());
    for round in 0..rounds {
        // In one launch in eight, the second block's events do not fit in cells of global memory.
        let first_block = if round % 8 < 7 { 0 } else { (1 << 21) - 1 };
        let [mut short, mut long] =
            [true, false].map(|is_quick| Blocks::new(is_quick, round % 2 == 0, first_block));
        let random = std::iter::repeat_with(|| draw(&mut random)).take(200);
        'launch: for step in first.iter().copied().chain(random) {
            for step in step.parts() {
                let conflict = short.step(&step);
                assert_eq!(conflict, long.step(&step), "round {round}");
                if let Some(conflict) = conflict {
                    if !conflict.starts_with("Unwritten")
                        && !conflict.starts_with("UninitialisedRead")
                    {
                        conflicts.push(conflict);
                        break 'launch;
                    }
                    break;
                }
            }
        }
        quick += short.quick;
    }
    (conflicts, quick)
}

#[test]
fn the_short_way_finds_what_the_rules_find() {
    let (conflicts, quick) = compare(&[], |random| Step::random(random, false), 4000);
    assert!(
        conflicts.len() > 1000 && quick > 5000,
        "{} conflicts, {quick} quick accesses",
        conflicts.len()
    );
}

#[test]
fn the_short_way_finds_what_the_rules_find_of_asynchronous_operations() {
    let (conflicts, quick) = compare(&[], |random| Step::random(random, true), 4000);
    let count = |word: &str| conflicts.iter().filter(|it| it.contains(word)).count();
    let counts = ["InFlight", "Unordered", "AsyncHazard", "MissingProxyFence"].map(count);
    assert!(
        quick > 5000 && counts.iter().all(|count| *count > 20),
        "{counts:?} of {} conflicts, {quick} quick accesses",
        conflicts.len()
    );
}

/// With many threads that load the same words, and with few.
#[test]
fn the_short_way_finds_what_the_rules_find_of_tiles() {
    for rows in [1, 4, 32] {
        let draw = |random: &mut SplitMix64| Step::of_tiles(random, rows);
        let (conflicts, quick) = compare(&Step::tiles(), draw, 2000);
        assert!(
            conflicts.len() > 1500 && quick > 20_000,
            "{} conflicts, {quick} quick accesses",
            conflicts.len()
        );
    }
}
