//! Calls of functions by their address.
//!
//! An address is compared with that of each function of the module with such parameters and results, and that function
//! is called.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::{TooManyRegisters, UnknownName, Unsupported};
use super::layout::{MOST_SLOTS, layout};
use super::names::Named;
use super::op::Op;
use crate::syntax::{Declaration, Function, FunctionKind, Operand};
use crate::words::Type;

/// Addresses of functions, which no memory has.
const FIRST_ADDRESS: u64 = 0x7fff_0000_0000_0000;
const DISTANCE: u64 = 16;

/// The sizes of parameters or results.
fn sizes(them: &[Declaration]) -> Vec<usize> {
    let sizes = them.iter().flat_map(|declaration| {
        let variables = declaration.variables.iter();
        variables.map(|variable| layout(declaration, variable).map_or(0, |it| it.0))
    });
    sizes.collect()
}

impl<'a> Decoder<'a> {
    /// The address of a function of this name.
    pub(super) fn address_of_function(&self, name: &str) -> Option<u64> {
        let mut functions = self.module.functions();
        let number = functions.position(|it| it.name.as_ref() == name && it.body.is_some())?;
        Some(FIRST_ADDRESS + DISTANCE * number as u64)
    }

    /// Whether the module declares a function of this name.
    fn is_function(&self, name: &str) -> bool {
        let mut functions = self.module.functions();
        functions.any(|it| it.name.as_ref() == name)
    }

    /// Finds what the addresses among the initial values of variables are, from variable number `first` on: those of
    /// the module, or of a scope of the function.
    pub(super) fn place_addresses(&mut self, first: usize, scope: Option<usize>) {
        let mut globals = self.storage.globals.split_off(first);
        for number in 0..globals.len() {
            for mut it in std::mem::take(&mut globals[number].addresses) {
                let named = match scope {
                    Some(scope) => self.named_in(scope, &it.variable),
                    None => self.of_module.get(&it.variable),
                };
                let variable = match named {
                    Some(Named::Global(number)) if number < first => {
                        Some(&self.storage.globals[number])
                    }
                    Some(Named::Global(number)) => Some(&globals[number - first]),
                    _ => None,
                };
                let global = match variable.filter(|it| it.is_defined) {
                    Some(variable) => {
                        it.variable.clone_from(&variable.key);
                        globals[number].addresses.push(it);
                        continue;
                    }
                    None => &mut globals[number],
                };
                match self.address_of_function(&it.variable) {
                    Some(address) => {
                        let place = it.place..it.place + size_of::<u64>();
                        let address = address.wrapping_add_signed(it.offset);
                        global.initial[place].copy_from_slice(&address.to_le_bytes());
                    }
                    // A function of another file, such as that of pure virtual functions: no call may reach it.
                    None if self.is_function(&it.variable) => {}
                    None => {
                        let (line, name) = (global.line, global.name.clone());
                        self.note_at(line, UnknownName(it.variable), &name, "global".to_owned());
                    }
                }
            }
        }
        self.storage.globals.append(&mut globals);
    }

    /// Calls the function whose address a register has; `prototype` names its parameters and results.
    pub(super) fn call_by_address(
        &mut self,
        at: At<'a>,
        (register, prototype): (&'a Operand, &str),
        arguments: &'a [Operand],
        results: &'a [Operand],
    ) -> Decoded<()> {
        let signature = self
            .flat
            .prototype(at.scope, prototype)
            .ok_or(Unsupported)?;
        let wanted = (sizes(&signature.parameters), sizes(&signature.results));
        let is_such = |it: &&'a Function| {
            let own = (
                sizes(&it.signature.parameters),
                sizes(&it.signature.results),
            );
            it.kind == FunctionKind::Function && it.body.is_some() && own == wanted
        };
        let candidates: Vec<&'a Function> = self.module.functions().filter(is_such).collect();
        let address = self.source(at, register, Type::U64)?;
        let mut ends = Vec::new();
        for function in candidates {
            // Each has a slot, so that this bounds the code, too.
            if self.storage.slots.len() > MOST_SLOTS {
                return Err(TooManyRegisters);
            }
            let own = self
                .address_of_function(&function.name)
                .ok_or(Unsupported)?;
            let (b, predicate) = (self.constant(own), self.scratch());
            self.emit(Op::Binary {
                f: |a, b| (a == b).into(),
                d: predicate,
                a: address,
                b,
            });
            let skip = self.code.len();
            self.emit(Op::JumpIf {
                predicate,
                expected: false,
                to: 0,
            });
            self.call(at, &function.name, arguments, results)?;
            ends.push(self.code.len());
            self.emit(Op::Jump { to: 0 });
            self.jump_here(skip);
        }
        self.emit(Op::NoFunction { address });
        for end in ends {
            self.jump_here(end);
        }
        Ok(())
    }

    /// Makes a jump lead to the next instruction.
    fn jump_here(&mut self, jump: usize) {
        let next = self.code.len() as u32;
        if let Op::Jump { to } | Op::JumpIf { to, .. } = &mut self.code[jump] {
            *to = next;
        }
    }
}
