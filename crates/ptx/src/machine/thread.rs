//! A thread that runs a program.

use super::fragments::Fragments;
use super::invalid::invalid;
use super::lines::Lines;
use super::start::{no_memory, shared_start, slots};
use super::storage::{Local, Storage};
use crate::decode::{Fence, List, Op, Program, Reduction};
use crate::words::FenceOrder;
use simt::{BarrierId, DefectKind, SourceLine};
use std::ops::Range;
use std::sync::Arc;

/// A thread: its registers, and its next instruction.
pub(super) struct Thread<'a> {
    pub program: &'a Program,
    /// Registers, constants and addresses.
    pub slots: Box<[u64]>,
    pub parameters: &'a Storage,
    /// Memory that generic addresses reach and no thread writes.
    pub constants: &'a [Range<usize>],
    /// The address of the block's shared memory.
    pub shared: usize,
    /// The bytes of shared memory from its start to the end of the block's last array.
    pub shared_bytes: usize,
    pub local: Local,
    /// The number of the next instruction.
    next: usize,
    /// The return addresses of the calls in progress.
    calls: Vec<usize>,
    /// Accumulators that the tensor cores hold.
    pub fragments: Fragments,
    lines: &'a Lines,
    /// The line of the instruction.
    pub line: SourceLine,
    /// The last reading of a clock, which the next one exceeds.
    clock: u64,
    /// Whether writes of the value that the memory already has are no races.
    pub allows_equal_writes: bool,
}

/// The cycles between two readings of a clock. The simulator does not know the real ones.
const CLOCK_STEP: u64 = 1024;

/// The continuation after an instruction.
enum Then {
    Next,
    Jump(u32),
    End,
}

impl<'a> Thread<'a> {
    /// The running simulated thread at the beginning of `program`.
    pub fn start(
        program: &'a Program,
        globals: &[Arc<Storage>],
        parameters: &'a Storage,
        lines: &'a Lines,
    ) -> Self {
        let shared = shared_start();
        let (slots, shared_bytes) = slots(program, globals, lines, shared);
        Self {
            program,
            slots,
            parameters,
            constants: &[],
            shared,
            shared_bytes,
            local: Local::new(program.local_bytes).unwrap_or_else(|error| no_memory(error)),
            next: 0,
            calls: Vec::new(),
            fragments: Fragments::default(),
            lines,
            line: lines.of_op(0),
            clock: 0,
            allows_equal_writes: false,
        }
    }

    /// Runs the thread to its end.
    pub fn run(&mut self) {
        loop {
            let op = &self.program.code[self.next];
            self.next += 1;
            match op {
                Op::Copy { d, a } => self.set(*d, self.get(*a)),
                Op::Unary { f, d, a } => self.set(*d, f(self.get(*a))),
                Op::Binary { f, d, a, b } => self.set(*d, f(self.get(*a), self.get(*b))),
                Op::Ternary { f, d, a, b, c } => {
                    self.set(*d, f(self.get(*a), self.get(*b), self.get(*c)));
                }
                Op::Jump { to } => self.next = *to as usize,
                Op::JumpIf {
                    predicate,
                    expected,
                    to,
                } => {
                    if (self.get(*predicate) != 0) == *expected {
                        self.next = *to as usize;
                    }
                }
                op => match self.step_at(op) {
                    Then::Next => {}
                    Then::Jump(to) => self.next = to as usize,
                    Then::End => return,
                },
            }
        }
    }

    /// [`step`](Self::step), at the line of the instruction.
    fn step_at(&mut self, op: &Op) -> Then {
        self.line = self.lines.of_op(self.next - 1);
        simt::execute_at(self.line);
        self.step(op)
    }

    #[inline(always)]
    pub fn get(&self, slot: u32) -> u64 {
        self.slots[slot as usize]
    }

    #[inline(always)]
    pub fn set(&mut self, slot: u32, value: u64) {
        self.slots[slot as usize] = value;
    }

    /// The entries of a list.
    pub fn list(&self, list: List) -> &'a [u32] {
        let first = list.first as usize;
        &self.program.lists[first..first + list.count as usize]
    }

    /// The instructions that [`run`](Self::run) does not execute itself.
    fn step(&mut self, op: &Op) -> Then {
        match op {
            Op::Table { index, to } => {
                let targets = self.list(*to);
                match targets.get(self.get(*index) as usize) {
                    Some(target) => return Then::Jump(*target),
                    None => outside_of_table(self.get(*index), targets.len()),
                }
            }
            Op::Call { to } => {
                self.calls.push(self.next);
                return Then::Jump(*to);
            }
            Op::Return => {
                return match self.calls.pop() {
                    Some(next) => Then::Jump(next as u32),
                    None => Then::End,
                };
            }
            Op::NoFunction { address } => no_function(self.get(*address)),
            Op::Exit => return Then::End,
            Op::Trap => simt::fail(DefectKind::Panic, "the kernel traps".to_owned()),
            Op::Sleep => simt::yield_now(),
            Op::Quaternary { f, d, operands } => {
                self.set(*d, f(operands.map(|slot| self.get(slot))));
            }
            Op::General { f, d, operands } => {
                let mut values = [0; crate::numbers::MOST_OPERANDS];
                let operands = self.list(*operands);
                for (value, slot) in values.iter_mut().zip(operands) {
                    *value = self.get(*slot);
                }
                self.set(*d, f.call(&values[..operands.len()]));
            }
            Op::Pack { d, from, bits } => {
                let elements = self.list(*from).iter().rev();
                let word = elements.fold(0, |word, slot| word << bits | self.get(*slot));
                self.set(*d, word);
            }
            Op::Unpack { to, a, bits } => {
                let word = self.get(*a);
                for (place, slot) in self.list(*to).iter().enumerate() {
                    let element = word >> (place as u32 * bits);
                    self.set(*slot, element & crate::numbers::mask(*bits));
                }
            }
            Op::Print {
                format,
                values,
                result,
            } => self.print_line(*format, *values, *result),
            Op::AssertFail {
                message,
                file,
                line,
            } => self.assert_fail(*message, *file, *line),
            Op::CopyLocal { to, from, bytes } => self.copy_local(*to, *from, *bytes),
            Op::Sample(sample) => self.sample(sample),
            Op::Load(access) => self.load(access),
            Op::Store(access) => self.store(access),
            Op::Atomic(atomic) => self.atomic(atomic),
            Op::ToGeneric { space, d, a } => self.set(*d, self.to_generic(*space, self.get(*a))),
            Op::IsIn {
                space,
                is_constant,
                d,
                a,
            } => {
                let is_in = self.is_in(*space, *is_constant, self.get(*a) as usize);
                self.set(*d, is_in.into());
            }
            Op::FromGeneric { space, d, a } => {
                self.set(*d, self.in_space(*space, self.get(*a)));
            }
            Op::CopyAsync { to, from, present } => self.copy_async(to, *from, *present),
            op => self.synchronise(op),
        }
        Then::Next
    }

    /// The barrier whose number a slot has.
    fn barrier(&self, id: u32, is_aligned: bool) -> BarrierId {
        let id = BarrierId(self.get(id) as u32);
        if is_aligned {
            simt::check_aligned(id);
        }
        id
    }

    fn synchronise(&mut self, op: &Op) {
        match op {
            Op::Barrier {
                id,
                is_aligned,
                threads,
            } => {
                let threads = threads.map(|slot| self.get(slot) as u32);
                simt::block_barrier(self.barrier(*id, *is_aligned), threads);
            }
            Op::BarrierArrive { id, threads } => {
                let (id, threads) = (self.get(*id) as u32, self.get(*threads) as u32);
                simt::block_barrier_arrive(BarrierId(id), threads);
            }
            Op::BarrierReduce {
                d,
                id,
                is_aligned,
                threads,
                predicate,
                is_negated,
                how,
            } => {
                let threads = threads.map(|slot| self.get(slot) as u32);
                let id = self.barrier(*id, *is_aligned);
                let count = |predicate| simt::block_barrier_reduce(id, threads, predicate);
                let predicate = (self.get(*predicate) != 0) != *is_negated;
                let result = match how {
                    Reduction::Count => count(predicate).into(),
                    Reduction::Any => (count(predicate) > 0).into(),
                    Reduction::All => (count(!predicate) == 0).into(),
                };
                self.set(*d, result);
            }
            Op::WarpBarrier { mask } => simt::warp_barrier(self.get(*mask)),
            Op::Fence(Fence { order, scope }) => match order {
                FenceOrder::SequentiallyConsistent => simt::fence(*scope),
                FenceOrder::AcquireRelease => simt::fence_acq_rel(*scope),
                FenceOrder::Acquire => simt::fence_acquire(*scope),
                FenceOrder::Release => simt::fence_release(*scope),
            },
            Op::Shuffle(shuffle) => self.shuffle(shuffle),
            Op::Vote(vote) => self.vote(vote),
            Op::Match { d, a, mask } => self.matching(*d, *a, *mask),
            Op::MatchAll {
                d,
                predicate,
                a,
                mask,
            } => self.match_all(*d, *predicate, *a, *mask),
            Op::Elect {
                leader,
                predicate,
                mask,
            } => self.elect(*leader, *predicate, *mask),
            Op::Clock { d } => {
                self.clock += CLOCK_STEP;
                self.set(*d, self.clock);
            }
            Op::ActiveMask { d } => self.set(*d, simt::converged_lanes()),
            Op::Combine(combine) => self.combine(combine),
            Op::CommitCopies => simt::async_commit(),
            Op::WaitForCopies { pending } => simt::async_wait(self.get(*pending) as u32),
            Op::DependentWait => simt::dependent_launch_wait(),
            Op::Prefetch => simt::count_prefetch(),
            op => self.work_beside(op),
        }
    }
}

impl Thread<'_> {
    /// Tensor cores, and units that run beside the threads.
    fn work_beside(&mut self, op: &Op) {
        match op {
            Op::Product(product) => self.product(product),
            Op::MoveMatrices(it) => self.move_matrices(it),
            Op::MoveFragment(it) => self.move_fragment(it),
            Op::WarpgroupFence { fragments } => self.warpgroup_fence(*fragments),
            Op::WarpgroupProduct(it) => self.warpgroup_product(it),
            Op::WarpgroupCommit => self.warpgroup_commit(),
            Op::WarpgroupWait { pending } => self.warpgroup_wait(*pending),
            Op::Mbarrier { barrier, step } => self.mbarrier(*barrier, *step),
            Op::MbarrierFence => simt::fence_mbarrier_init(),
            Op::ProxyFence => simt::fence_proxy_async(),
            Op::CopyBox(copy) => self.copy_box(copy),
            Op::CopyBytes(copy) => self.copy_bytes(copy),
            Op::BulkCommit => simt::bulk_commit(),
            Op::BulkWait {
                pending,
                is_of_reads: true,
            } => simt::bulk_wait_read(self.get(*pending) as u32),
            Op::BulkWait { pending, .. } => simt::bulk_wait(self.get(*pending) as u32),
            Op::MapShared {
                d,
                a,
                rank,
                is_generic,
            } => self.map_shared(*d, *a, *rank, *is_generic),
            Op::ClusterArrive => simt::cluster_barrier_arrive(),
            Op::ClusterArriveRelaxed => simt::cluster_barrier_arrive_relaxed(),
            Op::ClusterWait => simt::cluster_barrier_wait(),
            Op::SetMaxRegisters { count, is_increase } => {
                simt::set_max_registers(*count, *is_increase);
            }
            _ => {}
        }
    }
}

#[cold]
fn no_function(address: u64) -> ! {
    invalid(format!(
        "a call of address {address:#x}, at which is no function of such parameters"
    ))
}

#[cold]
fn outside_of_table(index: u64, length: usize) -> ! {
    invalid(format!("a branch to entry {index} of a table of {length}"))
}
