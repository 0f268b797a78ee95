//! Barriers, fences, and operations of a whole warp.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::Unsupported;
use super::memory::scope_of;
use super::op::Op;
use super::parts::{Combine, Fence, Reduction, Shuffle, Vote};
use crate::operations::{
    Barrier, BarrierName, CopyGroup, CopyGroupName, FenceName, Match, Operation,
    Reduction as ReductionInstruction, Shuffle as ShuffleInstruction, Vote as VoteInstruction,
};
use crate::syntax::Operand;
use crate::words::{
    BarrierScope, BarrierStep, ClusterStep, DependentStep, FenceLevel, FenceOrder, MatchMode,
    Memory, Order, ProxyKind, Reduce, Type, VoteMode,
};
use simt::MemoryScope;

impl Decoder<'_> {
    pub(super) fn synchronisation(&mut self, at: At<'_>, it: &Operation) -> Decoded<()> {
        match it {
            Operation::Barrier(it) => return self.barrier(at, it),
            Operation::Shuffle(it) => return self.shuffle(at, it),
            Operation::Vote(it) => return self.vote(at, it),
            Operation::Match(it) => return self.matching(at, it),
            Operation::Reduction(it) => return self.reduction(at, it),
            Operation::CopyGroup(it) => return self.copy_group(at, it),
            Operation::ActiveMask(_) => {
                let [d] = at.exactly()?;
                let (d, _) = self.destination(at, d)?;
                self.emit(Op::ActiveMask { d });
            }
            Operation::MemoryBarrier(it) => self.emit(Op::Fence(Fence {
                order: FenceOrder::SequentiallyConsistent,
                scope: match it.level {
                    FenceLevel::Block => MemoryScope::Block,
                    FenceLevel::Device => MemoryScope::Device,
                    FenceLevel::System => MemoryScope::System,
                },
            })),
            Operation::Fence(it) if it.name == FenceName::Fence => self.emit(Op::Fence(Fence {
                order: it.order.unwrap_or(FenceOrder::AcquireRelease),
                scope: scope_of(Some(it.scope)),
            })),
            Operation::Fence(_) => self.emit(Op::MbarrierFence),
            // Accesses that need this fence are in shared memory.
            Operation::ProxyFence(it) if it.kind == ProxyKind::Async => {
                self.emit(match it.memory {
                    Some(Memory::Global) => Op::Nothing,
                    _ => Op::ProxyFence,
                });
            }
            Operation::ClusterBarrier(it) => self.emit(match (it.step, it.order) {
                (ClusterStep::Arrive, None | Some(Order::Release)) => Op::ClusterArrive,
                (ClusterStep::Arrive, Some(Order::Relaxed)) => Op::ClusterArriveRelaxed,
                (ClusterStep::Wait, None | Some(Order::Acquire)) => Op::ClusterWait,
                _ => return Err(Unsupported),
            }),
            Operation::Fetch(it) if it.tensor_map.is_none() => self.emit(Op::Prefetch),
            Operation::Fetch(_) => self.emit(Op::Nothing),
            Operation::Elect(_) => {
                let [pair @ Operand::Pair(..), mask] = at.operands else {
                    return Err(Unsupported);
                };
                let (leader, predicate) = self.result_and_predicate(at, pair)?;
                let mask = self.source(at, mask, Type::U32)?;
                self.emit(Op::Elect {
                    leader,
                    predicate,
                    mask,
                });
            }
            Operation::Dependent(it) => self.emit(match it.step {
                DependentStep::Wait => Op::DependentWait,
                DependentStep::LaunchDependents => Op::Nothing,
            }),
            _ => return Err(Unsupported),
        }
        Ok(())
    }

    fn barrier(&mut self, at: At<'_>, it: &Barrier) -> Decoded<()> {
        let of = Type::U32;
        let is_of_warp = it.scope == Some(BarrierScope::Warp);
        let is_aligned = it.name == BarrierName::Aligned || it.aligned.is_some();
        match (it.step, at.operands) {
            (BarrierStep::Sync, [mask]) if is_of_warp => {
                let mask = self.source(at, mask, of)?;
                self.emit(Op::WarpBarrier { mask });
            }
            (BarrierStep::Sync, [id, rest @ ..]) if rest.len() < 2 => {
                let id = self.source(at, id, of)?;
                let threads = rest.first().map(|it| self.source(at, it, of)).transpose()?;
                self.emit(Op::Barrier {
                    id,
                    is_aligned,
                    threads,
                });
            }
            (BarrierStep::Arrive, [id, threads]) => {
                let (id, threads) = (self.source(at, id, of)?, self.source(at, threads, of)?);
                self.emit(Op::BarrierArrive { id, threads });
            }
            (BarrierStep::Reduce, [d, id, rest @ .., predicate]) if rest.len() < 2 => {
                let id = self.source(at, id, of)?;
                let threads = rest.first().map(|it| self.source(at, it, of)).transpose()?;
                let how = match it.reduce {
                    Some(Reduce::PopulationCount) => Reduction::Count,
                    Some(Reduce::And) => Reduction::All,
                    Some(Reduce::Or) => Reduction::Any,
                    _ => return Err(Unsupported),
                };
                let (predicate, is_negated) = self.predicate(at, predicate)?;
                let (d, _) = self.destination(at, d)?;
                self.emit(Op::BarrierReduce {
                    d,
                    id,
                    is_aligned,
                    threads,
                    predicate,
                    is_negated,
                    how,
                });
            }
            _ => return Err(Unsupported),
        }
        Ok(())
    }

    /// The slot of a predicate, and whether it is negated.
    fn predicate(&mut self, at: At<'_>, operand: &Operand) -> Decoded<(u32, bool)> {
        match operand {
            Operand::Negated(name) => Ok((self.register(at, name)?.0, true)),
            operand => Ok((self.source(at, operand, Type::Pred)?, false)),
        }
    }

    /// The slots of a result and of the predicate behind it, which may be left out.
    fn result_and_predicate(&mut self, at: At<'_>, operand: &Operand) -> Decoded<(u32, u32)> {
        match operand {
            Operand::Pair(d, predicate) => {
                let (d, _) = self.named_destination(at, d)?;
                Ok((d, self.named_destination(at, predicate)?.0))
            }
            d => Ok((self.destination(at, d)?.0, self.scratch())),
        }
    }

    fn shuffle(&mut self, at: At<'_>, it: &ShuffleInstruction) -> Decoded<()> {
        let [d, a, lane, bounds, mask] = at.exactly()?;
        let (d, predicate) = self.result_and_predicate(at, d)?;
        let shuffle = Shuffle {
            mode: it.mode,
            d,
            predicate,
            a: self.source(at, a, it.of)?,
            lane: self.source(at, lane, Type::U32)?,
            bounds: self.source(at, bounds, Type::U32)?,
            mask: self.source(at, mask, Type::U32)?,
        };
        self.emit(Op::Shuffle(shuffle));
        Ok(())
    }

    fn vote(&mut self, at: At<'_>, it: &VoteInstruction) -> Decoded<()> {
        let [d, a, mask] = at.exactly()?;
        let is_of_type = (it.mode == VoteMode::Ballot) == (it.of == Type::B32);
        if !is_of_type {
            return Err(Unsupported);
        }
        let (a, is_negated) = self.predicate(at, a)?;
        let vote = Vote {
            mode: it.mode,
            d: self.destination(at, d)?.0,
            a,
            is_negated,
            mask: self.source(at, mask, Type::U32)?,
        };
        self.emit(Op::Vote(vote));
        Ok(())
    }

    fn matching(&mut self, at: At<'_>, it: &Match) -> Decoded<()> {
        let [d, a, mask] = at.exactly()?;
        let a = self.source(at, a, it.of)?;
        let mask = self.source(at, mask, Type::U32)?;
        if it.mode == MatchMode::All {
            let (d, predicate) = self.result_and_predicate(at, d)?;
            self.emit(Op::MatchAll {
                d,
                predicate,
                a,
                mask,
            });
            return Ok(());
        }
        let (d, _) = self.destination(at, d)?;
        self.emit(Op::Match { d, a, mask });
        Ok(())
    }

    fn reduction(&mut self, at: At<'_>, it: &ReductionInstruction) -> Decoded<()> {
        let [d, a, mask] = at.exactly()?;
        let (name, f): (_, fn(u64, u64) -> u64) = match (it.operation, it.of) {
            (Reduce::Add, Type::U32 | Type::S32) => ("reduce_add", |a, b| {
                (a as u32).wrapping_add(b as u32).into()
            }),
            (Reduce::Min, Type::U32) => ("reduce_min", |a, b| a.min(b)),
            (Reduce::Max, Type::U32) => ("reduce_max", |a, b| a.max(b)),
            (Reduce::Min, Type::S32) => {
                ("reduce_min", |a, b| (a as i32).min(b as i32) as u32 as u64)
            }
            (Reduce::Max, Type::S32) => {
                ("reduce_max", |a, b| (a as i32).max(b as i32) as u32 as u64)
            }
            (Reduce::And, Type::B32) => ("reduce_and", |a, b| a & b),
            (Reduce::Or, Type::B32) => ("reduce_or", |a, b| a | b),
            (Reduce::Xor, Type::B32) => ("reduce_xor", |a, b| a ^ b),
            _ => return Err(Unsupported),
        };
        let combine = Combine {
            name,
            f,
            a: self.source(at, a, it.of)?,
            mask: self.source(at, mask, Type::U32)?,
            d: self.destination(at, d)?.0,
        };
        self.emit(Op::Combine(combine));
        Ok(())
    }

    fn copy_group(&mut self, at: At<'_>, it: &CopyGroup) -> Decoded<()> {
        match (it.name, at.operands) {
            (CopyGroupName::Commit, []) => self.emit(Op::CommitCopies),
            (CopyGroupName::Wait, [pending]) => {
                let pending = self.source(at, pending, Type::U32)?;
                self.emit(Op::WaitForCopies { pending });
            }
            (CopyGroupName::CommitBulk, []) => self.emit(Op::BulkCommit),
            (CopyGroupName::WaitBulk, [pending]) => {
                let pending = self.source(at, pending, Type::U32)?;
                let is_of_reads = it.read.is_some();
                self.emit(Op::BulkWait {
                    pending,
                    is_of_reads,
                });
            }
            (CopyGroupName::WaitAll, []) => {
                let pending = self.constant(0);
                self.emit(Op::CommitCopies);
                self.emit(Op::WaitForCopies { pending });
            }
            _ => return Err(Unsupported),
        }
        Ok(())
    }
}
