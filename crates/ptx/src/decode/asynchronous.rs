//! Barriers in shared memory, bulk copies and clusters.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::{Operand as WrongOperand, Unsupported};
use super::op::Op;
use super::parts::{ArrivalOrder, BoxCopy, BytesCopy, MbarrierStep};
use crate::operations::{
    BulkCopy, BulkTensor, CopyArrival, Map, MapName, Mbarrier, MbarrierName, Registers,
};
use crate::syntax::Operand;
use crate::words::{LoadMode, Memory, Order, RegisterStep, Scope, Type};

impl Decoder<'_> {
    pub(super) fn mbarrier(&mut self, at: At<'_>, it: &Mbarrier) -> Decoded<()> {
        let of = Type::U32;
        let order = match (it.order, it.scope) {
            (Some(Order::Relaxed), _) => ArrivalOrder::Relaxed,
            (_, Some(Scope::Block)) => ArrivalOrder::Block,
            _ => ArrivalOrder::Cluster,
        };
        let is_wait = matches!(it.name, MbarrierName::TryWait | MbarrierName::TestWait);
        if it.no_complete.is_some() || order == ArrivalOrder::Relaxed && is_wait {
            return Err(Unsupported);
        }
        let (address, step) = match (it.name, at.operands) {
            (MbarrierName::Init, [address, arrivals]) => {
                (address, MbarrierStep::Init(self.source(at, arrivals, of)?))
            }
            (MbarrierName::Invalidate, [address]) => (address, MbarrierStep::Invalidate),
            (MbarrierName::Arrive, [state @ Operand::Name(name), address, rest @ ..]) => {
                let (count, bytes) = match (it.expect, rest) {
                    (Some(_), [bytes]) => {
                        let bytes = self.source(at, bytes, of)?;
                        (self.constant(1), Some(bytes))
                    }
                    (None, []) => (self.constant(1), None),
                    (None, [count]) => (self.source(at, count, of)?, None),
                    _ => return Err(Unsupported),
                };
                // Without a state, the mbarrier may be another block's.
                let d = match name.as_ref() {
                    "_" => None,
                    _ => Some(self.destination(at, state)?.0),
                };
                let step = MbarrierStep::Arrive {
                    d,
                    count,
                    bytes,
                    order,
                };
                (address, step)
            }
            (MbarrierName::Expect, [address, bytes]) => {
                (address, MbarrierStep::Expect(self.source(at, bytes, of)?))
            }
            // The state of an arrival is the parity of its phase.
            (MbarrierName::TryWait | MbarrierName::TestWait, [d, address, parity, ..]) => {
                let parity = self.source(at, parity, of)?;
                let (d, _) = self.destination(at, d)?;
                let step = match it.name {
                    MbarrierName::TryWait => MbarrierStep::Wait { d, parity },
                    _ => MbarrierStep::Test { d, parity },
                };
                (address, step)
            }
            _ => return Err(Unsupported),
        };
        let barrier = self.pointer(at, it.memory, address)?;
        self.emit(Op::Mbarrier { barrier, step });
        Ok(())
    }

    /// The thread waits for its copies, and then arrives, if the arrival counts.
    pub(super) fn copy_arrival(&mut self, at: At<'_>, it: &CopyArrival) -> Decoded<()> {
        let [address] = at.exactly()?;
        let pending = self.constant(0);
        let barrier = self.pointer(at, it.memory, address)?;
        self.emit(Op::CommitCopies);
        self.emit(Op::WaitForCopies { pending });
        let step = match it.no_increment {
            Some(_) => MbarrierStep::Arrive {
                d: None,
                count: self.constant(1),
                bytes: None,
                order: ArrivalOrder::Cluster,
            },
            None => MbarrierStep::Check,
        };
        self.emit(Op::Mbarrier { barrier, step });
        Ok(())
    }

    pub(super) fn bulk_tensor(&mut self, at: At<'_>, it: &BulkTensor) -> Decoded<()> {
        if it.mode == Some(LoadMode::Im2col) {
            return Err(Unsupported);
        }
        let is_load = it.completion.is_some();
        let (tensor, shared, rest) = match at.operands {
            [shared, tensor, rest @ ..] if is_load => (tensor, shared, rest),
            [tensor, shared, rest @ ..] => (tensor, shared, rest),
            _ => return Err(Unsupported),
        };
        let Operand::Tensor(map, coordinates) = tensor else {
            return Err(WrongOperand(tensor.to_string()));
        };
        let map = self.source(at, &Operand::Name(map.clone()), Type::U64)?;
        let coordinates = self.sources(at, coordinates, Type::S32)?;
        let (barrier, rest) = match (is_load, rest) {
            (true, [barrier, rest @ ..]) => (
                Some(self.pointer(at, Some(Memory::SharedCluster), barrier)?),
                rest,
            ),
            (true, []) => return Err(Unsupported),
            (false, rest) => (None, rest),
        };
        let copy = BoxCopy {
            map,
            coordinates,
            shared: self.pointer(at, Some(Memory::SharedCluster), shared)?,
            barrier,
            blocks: self.blocks(at, it.multicast.is_some(), rest)?,
        };
        self.emit(Op::CopyBox(copy));
        Ok(())
    }

    /// The slot of the blocks of a multicast. A policy may follow, which changes nothing.
    fn blocks(&mut self, at: At<'_>, is_multicast: bool, rest: &[Operand]) -> Decoded<Option<u32>> {
        match (is_multicast, rest) {
            (true, [blocks, ..]) => self.source(at, blocks, Type::U16).map(Some),
            (true, []) => Err(Unsupported),
            (false, _) => Ok(None),
        }
    }

    pub(super) fn bulk_copy(&mut self, at: At<'_>, it: &BulkCopy) -> Decoded<()> {
        let ([to, from, bytes], rest) = at.split()?;
        let bytes = self.source(at, bytes, Type::U32)?;
        let shared = Some(Memory::SharedCluster);
        let is_load = it.to != Memory::Global && it.from == Memory::Global;
        let copy = match (is_load, rest) {
            (true, [barrier, rest @ ..]) => BytesCopy {
                global: self.pointer(at, Some(Memory::Global), from)?,
                shared: self.pointer(at, shared, to)?,
                bytes,
                barrier: Some(self.pointer(at, shared, barrier)?),
                blocks: self.blocks(at, it.multicast.is_some(), rest)?,
            },
            (false, _) if it.to == Memory::Global => BytesCopy {
                global: self.pointer(at, Some(Memory::Global), to)?,
                shared: self.pointer(at, shared, from)?,
                bytes,
                barrier: None,
                blocks: None,
            },
            _ => return Err(Unsupported),
        };
        self.emit(Op::CopyBytes(copy));
        Ok(())
    }

    pub(super) fn map(&mut self, at: At<'_>, it: &Map) -> Decoded<()> {
        let (MapName::Map, [d, a, rank]) = (it.name, at.operands) else {
            return Err(Unsupported);
        };
        let rank = self.source(at, rank, Type::U32)?;
        let a = self.source(at, a, it.of)?;
        let (d, _) = self.destination(at, d)?;
        let is_generic = it.memory.is_none();
        self.emit(Op::MapShared {
            d,
            a,
            rank,
            is_generic,
        });
        Ok(())
    }

    pub(super) fn registers(&mut self, at: At<'_>, it: &Registers) -> Decoded<()> {
        let [Operand::Integer(count)] = at.operands else {
            return Err(Unsupported);
        };
        self.emit(Op::SetMaxRegisters {
            count: u32::try_from(*count).map_err(|_| Unsupported)?,
            is_increase: it.step == RegisterStep::Increase,
        });
        Ok(())
    }
}
