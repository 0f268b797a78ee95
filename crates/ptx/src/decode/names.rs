//! The meanings of names.

use super::error::DecodeErrorKind::{self, TooManyRegisters, Twice};
use super::layout::{MOST_SLOTS, layout, place_in_local};
use super::variables::{Global, SharedArray};
use crate::syntax::{Declaration, Linkage, Variable};
use crate::words::{Memory, Type};
use std::collections::HashMap;

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    /// A register's slot, and its width in bits: 1 of a predicate.
    Register { slot: u32, bits: u32 },
    /// An offset in the parameters.
    Parameter(u64),
    /// An offset in local memory, and the bytes from there on.
    Local { place: u64, bytes: usize },
    /// A shared array.
    Shared(usize),
    /// A variable of the module.
    Global(usize),
}

/// Registers that are numbered.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u32,
    count: u64,
    bits: u32,
    /// The number of the step from which they are known.
    known_from: usize,
}

/// The names of one scope.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Each with the number of the step from which it is known.
    single: HashMap<String, (usize, Named)>,
    ranges: HashMap<String, Range>,
    /// The number of the step from which what is declared now is known.
    pub known_from: usize,
    /// The function's name and the scope's number; empty for the module's names.
    owner: String,
}

/// The meanings of names, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Storage {
    pub slots: Vec<u64>,
    pub shared: Vec<SharedArray>,
    pub globals: Vec<Global>,
    pub local_bytes: usize,
}

impl Storage {
    /// A slot with this value at a thread's start.
    pub fn slot(&mut self, value: u64) -> u32 {
        self.slots.push(value);
        (self.slots.len() - 1) as u32
    }
}

impl Names {
    /// No names yet, of a scope of a function.
    pub fn of(function: &str, scope: usize) -> Self {
        Self {
            owner: format!("{function} {scope} "),
            ..Self::default()
        }
    }

    pub fn insert(&mut self, name: &str, named: Named) {
        self.single
            .insert(name.to_owned(), (self.known_from, named));
    }

    pub fn get(&self, name: &str) -> Option<Named> {
        self.get_at(usize::MAX, name)
    }

    /// The meaning of a name for a step.
    pub fn get_at(&self, step: usize, name: &str) -> Option<Named> {
        if let Some((known_from, named)) = self.single.get(name) {
            return (*known_from <= step).then_some(*named);
        }
        let prefix = name.trim_end_matches(|it: char| it.is_ascii_digit());
        // A name may end with digits before the number: `%r1<4>` has `%r10` to `%r13`.
        (prefix.len()..name.len()).find_map(|end| {
            let range = self.ranges.get(&name[..end])?;
            let number: u64 = name[end..].parse().ok()?;
            let is_known = number < range.count && range.known_from <= step;
            let is_plain = name[end..] == number.to_string() && is_known;
            is_plain.then(|| Named::Register {
                slot: range.first + number as u32,
                bits: range.bits,
            })
        })
    }

    /// Adds the variables of a declaration.
    pub fn declare(
        &mut self,
        declaration: &Declaration,
        storage: &mut Storage,
    ) -> Result<(), DecodeErrorKind> {
        for variable in &declaration.variables {
            self.declare_one(declaration, variable, storage)?;
        }
        Ok(())
    }

    fn declare_one(
        &mut self,
        declaration: &Declaration,
        variable: &Variable,
        storage: &mut Storage,
    ) -> Result<(), DecodeErrorKind> {
        let refused = || DecodeErrorKind::Variable(variable.name.to_string());
        if declaration.memory == Memory::Reg {
            let bits = match declaration.of {
                Type::Pred => 1,
                of => of.bits().filter(|bits| *bits <= 64).ok_or_else(refused)?,
            };
            return self.declare_registers(variable, bits, storage);
        }
        let (bytes, alignment) = layout(declaration, variable).ok_or_else(refused)?;
        let named = match declaration.memory {
            Memory::Shared => {
                let is_dynamic = declaration.linkage == Some(Linkage::Extern);
                storage.shared.push(SharedArray {
                    slot: storage.slots.len() as u32,
                    bytes: (!is_dynamic).then_some(bytes),
                    alignment,
                    line: declaration.line.0,
                    is_used: false,
                });
                storage.slot(0);
                Named::Shared(storage.shared.len() - 1)
            }
            Memory::Global | Memory::Const => {
                let mut global = Global::new(declaration, variable, bytes).ok_or_else(refused)?;
                global.key = format!("{}{}", self.owner, variable.name);
                return self.declare_global(&variable.name, global, storage);
            }
            // Arguments and results of functions; a kernel's are not declared here.
            Memory::Local | Memory::Param | Memory::ParamFunc => {
                let placed = place_in_local(storage.local_bytes, (bytes, alignment));
                let (start, end) = placed.ok_or_else(refused)?;
                storage.local_bytes = end;
                Named::Local {
                    place: start as u64,
                    bytes,
                }
            }
            _ => return Err(refused()),
        };
        let is_new = self.get(&variable.name).is_none();
        self.insert(&variable.name, named);
        // A declaration of what another file defines may be repeated.
        match is_new || declaration.linkage == Some(Linkage::Extern) {
            true => Ok(()),
            false => Err(Twice(variable.name.to_string())),
        }
    }

    /// A definition takes the place of earlier declarations, and later ones change nothing.
    fn declare_global(
        &mut self,
        name: &str,
        global: Global,
        storage: &mut Storage,
    ) -> Result<(), DecodeErrorKind> {
        let twice = || Err(Twice(name.to_owned()));
        match self.get(name) {
            Some(Named::Global(number)) => {
                let earlier = &mut storage.globals[number];
                match (earlier.is_defined, global.is_defined) {
                    (true, true) => return twice(),
                    (false, true) => *earlier = global,
                    (_, false) => {}
                }
            }
            Some(_) => return twice(),
            None => {
                storage.globals.push(global);
                self.insert(name, Named::Global(storage.globals.len() - 1));
            }
        }
        Ok(())
    }

    /// A name that a new range of registers shares with an earlier declaration.
    fn shared_with(&self, prefix: &str, range: Range) -> Option<String> {
        if self.ranges.contains_key(prefix) {
            return Some(prefix.to_owned());
        }
        let own = Self {
            ranges: HashMap::from([(prefix.to_owned(), range)]),
            ..Self::default()
        };
        // `q1<4>` has `q10` to `q13`, and `q<12>` has `q10`, too: names that two ranges share include the first of one
        // of them.
        let firsts = self.ranges.keys().map(|other| format!("{other}0"));
        let mut names = self.single.keys().cloned().chain(firsts);
        let first = format!("{prefix}0");
        names
            .find(|name| own.get(name).is_some())
            .or_else(|| self.get(&first).map(|_| first))
    }

    fn declare_registers(
        &mut self,
        variable: &Variable,
        bits: u32,
        storage: &mut Storage,
    ) -> Result<(), DecodeErrorKind> {
        let first = storage.slots.len() as u32;
        let count = variable.count.unwrap_or(1);
        let after = u64::from(first).saturating_add(count);
        let after = usize::try_from(after).ok().filter(|it| *it <= MOST_SLOTS);
        storage.slots.resize(after.ok_or(TooManyRegisters)?, 0);
        let name = variable.name.to_string();
        let range = Range {
            first,
            count,
            bits,
            known_from: self.known_from,
        };
        let known = match variable.count {
            Some(_) => self.shared_with(&name, range),
            None => self.get(&name).map(|_| name.clone()),
        };
        match variable.count {
            Some(_) => drop(self.ranges.insert(name, range)),
            None => self.insert(&name, Named::Register { slot: first, bits }),
        }
        known.map_or(Ok(()), |name| Err(Twice(name)))
    }
}
