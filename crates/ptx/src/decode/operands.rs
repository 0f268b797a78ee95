//! Operands as slots.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::{Operand as WrongOperand, UnknownName};
use super::memory::space_of;
use super::names::{Named, Storage};
use super::op::Op;
use super::parts::{List, Pointer};
use super::special::Special;
use super::variables::Global;
use crate::numbers::mask;
use crate::syntax::Operand;
use crate::words::{Memory, Type};

impl Decoder<'_> {
    /// A slot for a value that nothing else uses.
    pub fn scratch(&mut self) -> u32 {
        self.storage.slot(0)
    }

    /// A slot that has this value.
    pub fn constant(&mut self, value: u64) -> u32 {
        let new = || self.storage.slot(value);
        *self.constants.entry(value).or_insert_with(new)
    }

    pub(super) fn named(&self, at: At<'_>, name: &str) -> Option<Named> {
        self.named_at(at.scope, at.number, name)
    }

    /// The meaning of a name in a scope, wherever that declares it.
    pub(super) fn named_in(&self, scope: usize, name: &str) -> Option<Named> {
        self.named_at(scope, usize::MAX, name)
    }

    fn named_at(&self, mut scope: usize, number: usize, name: &str) -> Option<Named> {
        loop {
            if let Some(named) = self.names[scope].get_at(number, name) {
                return Some(named);
            }
            let parent = self.flat.scopes[scope].parent;
            if parent == scope {
                let formals = match self.current {
                    Some(function) => &self.functions[function].names,
                    None => &self.of_kernel,
                };
                return formals.get(name).or_else(|| self.of_module.get(name));
            }
            scope = parent;
        }
    }

    /// The slot and the width of a register.
    pub fn register(&self, at: At<'_>, name: &str) -> Decoded<(u32, u32)> {
        match self.named(at, name) {
            Some(Named::Register { slot, bits }) => Ok((slot, bits)),
            Some(_) => Err(WrongOperand(name.to_owned())),
            None => Err(UnknownName(name.to_owned())),
        }
    }

    /// The slot and the width of a result.
    pub fn destination(&mut self, at: At<'_>, operand: &Operand) -> Decoded<(u32, u32)> {
        match operand {
            Operand::Name(name) => self.named_destination(at, name),
            _ => Err(WrongOperand(operand.to_string())),
        }
    }

    /// The slot and the width of a result in a register, or of one that is dropped.
    pub fn named_destination(&mut self, at: At<'_>, name: &str) -> Decoded<(u32, u32)> {
        match name {
            "_" => Ok((self.scratch(), 64)),
            name => self.register(at, name),
        }
    }

    /// The slots of results.
    pub fn destinations(&mut self, at: At<'_>, operands: &[Operand]) -> Decoded<List> {
        let slots = operands
            .iter()
            .map(|it| Ok(self.destination(at, it)?.0))
            .collect::<Decoded<Vec<u32>>>()?;
        Ok(self.list(slots.into_iter()))
    }

    pub fn sources(&mut self, at: At<'_>, operands: &[Operand], of: Type) -> Decoded<List> {
        let slots = operands.iter().map(|it| self.source(at, it, of));
        let slots: Vec<u32> = slots.collect::<Result<_, _>>()?;
        Ok(self.list(slots.into_iter()))
    }

    /// The slots of the registers that a load fills or a store reads.
    pub fn moved(&mut self, at: At<'_>, is_load: bool, registers: &[Operand]) -> Decoded<List> {
        match is_load {
            true => self.destinations(at, registers),
            false => self.sources(at, registers, Type::B32),
        }
    }

    pub fn list(&mut self, slots: impl Iterator<Item = u32>) -> List {
        let first = self.lists.len() as u32;
        self.lists.extend(slots);
        List {
            first,
            count: self.lists.len() as u32 - first,
        }
    }

    /// The slot of an operand that an instruction reads as a value of type `of`.
    pub fn source(&mut self, at: At<'_>, operand: &Operand, of: Type) -> Decoded<u32> {
        let bits = of.bits().unwrap_or(1);
        match operand {
            Operand::Name(name) => self.named_source(at, name, 0),
            Operand::Offset(name, offset) if !is_of_floats(of) => {
                self.named_source(at, name, *offset)
            }
            // Any number but 0 is true.
            Operand::Integer(value) if of == Type::Pred => Ok(self.constant((*value != 0).into())),
            Operand::Integer(value) if !is_of_floats(of) => {
                Ok(self.constant(*value as u64 & mask(bits)))
            }
            // Bits, in f64, too.
            Operand::Single(value) if matches!(of, Type::F32 | Type::B32 | Type::F64) => {
                Ok(self.constant((*value).into()))
            }
            // A decimal number has the type of the instruction.
            Operand::Double(value) if of == Type::F32 => {
                let value = f64::from_bits(*value) as f32;
                Ok(self.constant(value.to_bits().into()))
            }
            Operand::Double(value) if matches!(of, Type::F64 | Type::B64) => {
                Ok(self.constant(*value))
            }
            Operand::Negated(name) => {
                let (a, _) = self.register(at, name)?;
                let d = self.scratch();
                self.emit(Op::Unary { f: |a| a ^ 1, d, a });
                Ok(d)
            }
            _ => Err(WrongOperand(operand.to_string())),
        }
    }

    /// The slot of a register, or of the address of a variable.
    fn named_source(&mut self, at: At<'_>, name: &str, offset: i64) -> Decoded<u32> {
        let mut width = u64::BITS;
        let base = match self.named(at, name) {
            Some(Named::Register { slot, bits }) => {
                width = bits;
                slot
            }
            Some(Named::Parameter(place) | Named::Local { place, .. }) => {
                return Ok(self.constant(place.wrapping_add_signed(offset)));
            }
            Some(Named::Shared(array)) => {
                let array = &mut self.storage.shared[array];
                array.is_used = true;
                array.slot
            }
            Some(Named::Global(number)) if self.storage.globals[number].is_defined => {
                self.global(number)
            }
            Some(Named::Global(_)) => return Err(UnknownName(name.to_owned())),
            None if matches!(name, "%smid" | "%gridid") => {
                return Ok(self.constant(0));
            }
            None if matches!(name, "%nsmid") => return Ok(self.constant(1)),
            None if matches!(name, "%envreg1" | "%envreg2") => {
                return self.grid_workspace(at, name);
            }
            None if self.address_of_function(name).is_some() => {
                let address = self.address_of_function(name).unwrap_or_default();
                return Ok(self.constant(address));
            }
            None => {
                if let Some(part) = clock(name) {
                    let (clock, d) = (self.scratch(), self.scratch());
                    self.emit(Op::Clock { d: clock });
                    self.emit(Op::Unary {
                        f: part,
                        d,
                        a: clock,
                    });
                    return Ok(d);
                }
                let special = Special::of_name(name);
                self.special(special.ok_or_else(|| UnknownName(name.to_owned()))?)
            }
        };
        if offset == 0 {
            return Ok(base);
        }
        let (b, d) = (self.constant(offset as u64), self.scratch());
        let f: fn(u64, u64) -> u64 = match width {
            16 => |a, b| a.wrapping_add(b) & mask(16),
            32 => |a, b| a.wrapping_add(b) & mask(32),
            _ => u64::wrapping_add,
        };
        self.emit(Op::Binary { f, d, a: base, b });
        Ok(d)
    }

    /// Half of the address of the words with which cooperative groups make a barrier of the grid.
    fn grid_workspace(&mut self, _: At<'_>, name: &str) -> Decoded<u32> {
        const NAME: &str = "the words of the grid's barrier";
        const BYTES: usize = 64;
        let known = self.storage.globals.iter().position(|it| it.name == NAME);
        let number = known.unwrap_or_else(|| {
            self.storage.globals.push(Global {
                name: NAME.to_owned(),
                key: NAME.to_owned(),
                is_defined: true,
                line: 0,
                bytes: BYTES,
                initial: Vec::new(),
                addresses: Vec::new(),
                is_constant: false,
            });
            self.storage.globals.len() - 1
        });
        let (a, d) = (self.global(number), self.scratch());
        let f: fn(u64) -> u64 = match name {
            "%envreg1" => |address| address >> 32,
            _ => |address| address & mask(32),
        };
        self.emit(Op::Unary { f, d, a });
        Ok(d)
    }

    fn global(&mut self, number: usize) -> u32 {
        slot_of(number, &mut self.global_slots, &mut self.storage)
    }

    fn special(&mut self, special: Special) -> u32 {
        slot_of(special, &mut self.special, &mut self.storage)
    }

    /// An address in this memory.
    pub fn pointer(
        &mut self,
        at: At<'_>,
        memory: Option<Memory>,
        operand: &Operand,
    ) -> Decoded<Pointer> {
        let (address, offset) = self.address(at, operand)?;
        Ok(Pointer {
            space: space_of(memory)?,
            address,
            offset,
        })
    }

    /// The slot and the offset of an address.
    fn address(&mut self, at: At<'_>, operand: &Operand) -> Decoded<(u32, i64)> {
        match operand {
            Operand::Memory(Some(name), offset) => Ok((self.named_source(at, name, 0)?, *offset)),
            Operand::Memory(None, offset) => Ok((self.constant(0), *offset)),
            _ => Err(WrongOperand(operand.to_string())),
        }
    }
}

/// The slot of `value`, which is a new one unless `known` has it.
fn slot_of<T: PartialEq>(value: T, known: &mut Vec<(u32, T)>, storage: &mut Storage) -> u32 {
    if let Some((slot, _)) = known.iter().find(|it| it.1 == value) {
        return *slot;
    }
    let slot = storage.slot(0);
    known.push((slot, value));
    slot
}

/// The part of a 64-bit clock that a special register has.
fn clock(name: &str) -> Option<fn(u64) -> u64> {
    match name {
        "%clock64" | "%globaltimer" => Some(|time| time),
        "%clock" | "%globaltimer_lo" => Some(|time| time & mask(32)),
        "%clock_hi" | "%globaltimer_hi" => Some(|time| time >> 32),
        _ => None,
    }
}

/// Whether integers are no constants of a type: `ptxas` refuses them.
fn is_of_floats(of: Type) -> bool {
    of.is_float() || matches!(of, Type::F16x2 | Type::Bf16x2 | Type::F32x2)
}
