//! Instructions that access memory.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::{Operand as WrongOperand, Unsupported};
use super::names::Named;
use super::op::Op;
use super::parts::{Access, AddressSpace, Atomic, List, Ordering, Pointer};
use crate::operations::Atomic as AtomicInstruction;
use crate::operations::{Address, AddressName, AtomicName, ThreadCopy, Transfer, TransferName};
use crate::syntax::Operand;
use crate::words::{AtomicOperation, Cache, Memory, Order, Scope, Type};
use simt::{AccessKind, MemoryOrder, MemoryScope};

/// The space of an address; an error for those that this crate does not have.
pub(super) fn space_of(memory: Option<Memory>) -> Decoded<AddressSpace> {
    Ok(match memory {
        None => AddressSpace::Generic,
        Some(Memory::Global | Memory::Const) => AddressSpace::Global,
        Some(Memory::Shared | Memory::SharedCta) => AddressSpace::Shared,
        Some(Memory::SharedCluster) => AddressSpace::SharedCluster,
        Some(Memory::Param | Memory::ParamEntry) => AddressSpace::Param,
        Some(Memory::Local) => AddressSpace::Local,
        _ => return Err(Unsupported),
    })
}

/// The scope of an instruction, which is the device where it names none.
pub(super) fn scope_of(scope: Option<Scope>) -> MemoryScope {
    match scope {
        Some(Scope::Block) => MemoryScope::Block,
        Some(Scope::Cluster) => MemoryScope::Cluster,
        Some(Scope::Device) | None => MemoryScope::Device,
        Some(Scope::System) => MemoryScope::System,
    }
}

/// Whether an instruction of this kind may have this order.
fn has_order(is_load: bool, order: Option<Order>) -> bool {
    match order {
        None | Some(Order::Weak | Order::Volatile | Order::Relaxed) => true,
        Some(Order::Acquire) => is_load,
        Some(Order::Release) => !is_load,
        _ => false,
    }
}

/// The order of a load or a store; none if it is plain.
fn ordering_of(order: Option<Order>, scope: Option<Scope>) -> Decoded<Option<Ordering>> {
    let order = match order {
        None | Some(Order::Weak) => return Ok(None),
        Some(Order::Volatile) => return Ok(Some((MemoryOrder::Relaxed, MemoryScope::System))),
        Some(Order::Relaxed) => MemoryOrder::Relaxed,
        Some(Order::Acquire) => MemoryOrder::Acquire,
        Some(Order::Release) => MemoryOrder::Release,
        Some(Order::AcquireRelease) => MemoryOrder::AcquireRelease,
        Some(Order::SequentiallyConsistent) => return Err(Unsupported),
    };
    Ok(Some((order, scope_of(scope))))
}

/// Whether this atomic operation exists: floats have sums, and 16-bit types also a comparison and an exchange.
fn has_operation(it: &AtomicInstruction) -> bool {
    let is_packed = matches!(it.of, Type::F16x2 | Type::Bf16x2);
    match it.of {
        Type::Tf32 => false,
        of if of.is_float() || is_packed => it.operation == AtomicOperation::Add,
        Type::B16 => it.operation == AtomicOperation::CompareSwap,
        Type::B32 | Type::B64 | Type::U32 | Type::U64 | Type::S32 | Type::S64 => true,
        _ => false,
    }
}

/// The most bytes of a load, a store or an atomic operation.
const MOST_BYTES: u32 = 32;

impl Decoder<'_> {
    /// The space of an operand: values that functions pass to each other are in local memory.
    fn space_at(
        &self,
        at: At<'_>,
        memory: Option<Memory>,
        operand: &Operand,
    ) -> Decoded<AddressSpace> {
        let space = space_of(memory)?;
        let Operand::Memory(Some(name), _) = operand else {
            return Ok(space);
        };
        match (space, self.named(at, name)) {
            (AddressSpace::Param, Some(Named::Local { .. })) => Ok(AddressSpace::Local),
            _ => Ok(space),
        }
    }

    pub(super) fn transfer(&mut self, at: At<'_>, it: &Transfer) -> Decoded<()> {
        let is_load = match it.name {
            TransferName::Load | TransferName::LoadUniform => true,
            TransferName::Store => false,
        };
        let (values, address) = match (is_load, at.operands) {
            (true, [values, address]) => (values, address),
            (false, [address, values]) => (values, address),
            _ => return Err(Unsupported),
        };
        if !has_order(is_load, it.order) {
            return Err(Unsupported);
        }
        let ordering = ordering_of(it.order, it.scope)?;
        let kind = match (is_load, ordering) {
            (true, Some(_)) => AccessKind::AtomicRead,
            (false, Some(_)) => AccessKind::AtomicWrite,
            (false, None) => AccessKind::Write,
            // `ldu` is for data that nothing writes meanwhile, too.
            (true, None) if it.nc.is_some() || it.name == TransferName::LoadUniform => {
                AccessKind::ReadOnly
            }
            (true, None) if it.cache == Some(Cache::All) => AccessKind::CachedRead,
            (true, None) => AccessKind::Read,
        };
        let bits = it.of.bits().filter(|it| matches!(it, 8..=64));
        let element = bits.ok_or(Unsupported)? / 8;
        let elements: &[Operand] = match values {
            Operand::Vector(elements) => elements,
            value => std::slice::from_ref(value),
        };
        let count = it.vector.map_or(1, |it| it.count());
        let bytes = count * element;
        let is_vector = elements.len() == count as usize && bytes <= MOST_BYTES;
        if !is_vector {
            return Err(Unsupported);
        }
        let values = match is_load {
            true => self.destinations(at, elements)?,
            false => self.sources(at, elements, it.of)?,
        };
        let is_widened = is_load && it.of.is_signed();
        let signed_to = is_widened
            .then(|| self.width_of(at, elements))
            .transpose()?;
        let space = self.space_at(at, it.memory, address)?;
        let is_constant = space == AddressSpace::Param || it.memory == Some(Memory::Const);
        if !is_load && is_constant {
            return Err(WrongOperand(address.to_string()));
        }
        let access = Access {
            pointer: Pointer {
                space,
                ..self.pointer(at, it.memory, address)?
            },
            kind,
            ordering,
            element,
            signed_to,
            values,
        };
        self.emit(match is_load {
            true => Op::Load(access),
            false => Op::Store(access),
        });
        Ok(())
    }

    /// The common width of registers that a load fills.
    fn width_of(&self, at: At<'_>, registers: &[Operand]) -> Decoded<u32> {
        let mut common = None;
        for register in registers {
            match register {
                Operand::Name(name) if name.as_ref() != "_" => {
                    let (_, width) = self.register(at, name)?;
                    if *common.get_or_insert(width) != width {
                        return Err(WrongOperand(name.to_string()));
                    }
                }
                _ => {}
            }
        }
        Ok(common.unwrap_or(64))
    }

    pub(super) fn atomic(&mut self, at: At<'_>, it: &AtomicInstruction) -> Decoded<()> {
        if it.vector.is_some() {
            return self.atomic_vector(at, it);
        }
        let unused = self.scratch();
        let (d, address, rest) = match (it.name, at.operands) {
            (AtomicName::Atomic, [d, address, rest @ ..]) => {
                (self.destination(at, d)?.0, address, rest)
            }
            (AtomicName::Reduction, [address, rest @ ..]) => (unused, address, rest),
            _ => return Err(Unsupported),
        };
        let (a, b) = match (it.operation, rest) {
            (AtomicOperation::CompareSwap, [a, b]) => (a, b),
            (AtomicOperation::CompareSwap, _) => return Err(Unsupported),
            (_, [a]) => (a, a),
            _ => return Err(Unsupported),
        };
        let values = [self.source(at, a, it.of)?, self.source(at, b, it.of)?];
        self.one_atomic(at, it, d, (address, 1), values)
    }

    fn one_atomic(
        &mut self,
        at: At<'_>,
        it: &AtomicInstruction,
        d: u32,
        (address, alignment): (&Operand, u32),
        [a, b]: [u32; 2],
    ) -> Decoded<()> {
        if !has_operation(it) || it.memory == Some(Memory::Const) {
            return Err(Unsupported);
        }
        let relaxed = (MemoryOrder::Relaxed, scope_of(it.scope));
        let atomic = Atomic {
            pointer: self.pointer(at, it.memory, address)?,
            alignment,
            ordering: ordering_of(it.order, it.scope)?.unwrap_or(relaxed),
            operation: it.operation,
            of: it.of,
            d,
            a,
            b,
        };
        self.emit(Op::Atomic(atomic));
        Ok(())
    }

    /// An operation on each element of a vector. Together they are not atomic (PTX ISA, "atom").
    fn atomic_vector(&mut self, at: At<'_>, it: &AtomicInstruction) -> Decoded<()> {
        let count = it.vector.map_or(1, |it| it.count());
        let element = it.of.bits().ok_or(Unsupported)? / 8;
        let (results, address, values) = match at.operands {
            [Operand::Vector(results), address, Operand::Vector(values)] => {
                (Some(results), address, values)
            }
            [address, Operand::Vector(values)] => (None, address, values),
            _ => return Err(Unsupported),
        };
        let Operand::Memory(base, offset) = address else {
            return Err(Unsupported);
        };
        let are_as_many = |them: &[Operand]| them.len() == count as usize;
        let is_vector = are_as_many(values) && results.is_none_or(|it| are_as_many(it));
        if !is_vector || count * element > MOST_BYTES {
            return Err(Unsupported);
        }
        // A result's register may be that of a later element's value.
        let values = values.iter().map(|value| {
            let (d, a) = (self.scratch(), self.source(at, value, it.of)?);
            self.emit(Op::Copy { d, a });
            Ok(d)
        });
        let values: Vec<u32> = values.collect::<Result<_, _>>()?;
        for (number, a) in values.into_iter().enumerate() {
            let place = offset.wrapping_add(i64::from(element) * number as i64);
            let address = Operand::Memory(base.clone(), place);
            let d = match results {
                Some(results) => self.destination(at, &results[number])?.0,
                None => self.scratch(),
            };
            let alignment = if number == 0 { count * element } else { 1 };
            self.one_atomic(at, it, d, (&address, alignment), [a, a])?;
        }
        Ok(())
    }

    pub(super) fn convert_address(&mut self, at: At<'_>, it: &Address) -> Decoded<()> {
        let [d, a] = at.exactly()?;
        let space = space_of(Some(it.memory))?;
        let a = self.source(at, a, it.of.unwrap_or(Type::U64))?;
        let d = self.destination(at, d)?.0;
        if it.name == AddressName::IsIn {
            let is_constant = it.memory == Memory::Const;
            self.emit(Op::IsIn {
                space,
                is_constant,
                d,
                a,
            });
            return Ok(());
        }
        self.emit(match (space, it.to.is_some()) {
            (AddressSpace::Global, _) => Op::Copy { d, a },
            (space, true) => Op::FromGeneric { space, d, a },
            (space, false) => Op::ToGeneric { space, d, a },
        });
        Ok(())
    }

    /// The bytes that a copy of `bytes` bytes reads: a number, or a predicate under which it reads none.
    fn copied_bytes(&mut self, at: At<'_>, operand: &Operand, bytes: u64) -> Decoded<u32> {
        let is_predicate = match operand {
            Operand::Name(name) => matches!(self.register(at, name), Ok((_, 1))),
            operand => matches!(operand, Operand::Negated(_)),
        };
        let given = self.source(at, operand, Type::U32)?;
        if !is_predicate {
            return Ok(given);
        }
        let (d, b) = (self.scratch(), self.constant(bytes));
        self.emit(Op::Binary {
            f: |ignores, bytes| if ignores == 0 { bytes } else { 0 },
            d,
            a: given,
            b,
        });
        Ok(d)
    }

    pub(super) fn thread_copy(&mut self, at: At<'_>, it: &ThreadCopy) -> Decoded<()> {
        let ([to, from, bytes], rest) = at.split()?;
        let (Operand::Integer(bytes @ (4 | 8 | 16)), None) = (bytes, it.hint) else {
            return Err(Unsupported);
        };
        let present = match rest {
            [] => None,
            [present] => Some(self.copied_bytes(at, present, *bytes as u64)?),
            _ => return Err(Unsupported),
        };
        let to = Access {
            pointer: self.pointer(at, Some(Memory::Shared), to)?,
            kind: AccessKind::AsyncWrite,
            ordering: None,
            element: *bytes as u32,
            signed_to: None,
            values: List::default(),
        };
        let from = self.pointer(at, Some(Memory::Global), from)?;
        self.emit(Op::CopyAsync { to, from, present });
        Ok(())
    }
}
