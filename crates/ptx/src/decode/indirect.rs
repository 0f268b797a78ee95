//! Calls of functions by their address.
//!
//! An address is compared with that of each function of the module with such parameters and results, and that function
//! is called.

use super::decoder::{At, Decoded, Decoder};
use super::error::DecodeErrorKind::{TooManyRegisters, Unsupported};
use super::layout::{MOST_SLOTS, layout};
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

    /// Replaces the addresses of functions among the initial values of variables.
    pub(super) fn place_functions(&mut self) {
        let mut globals = std::mem::take(&mut self.storage.globals);
        for global in &mut globals {
            global.addresses.retain(|it| {
                let Some(address) = self.address_of_function(&it.variable) else {
                    return true;
                };
                let place = it.place..it.place + size_of::<u64>();
                global.initial[place].copy_from_slice(&address.to_le_bytes());
                false
            });
        }
        self.storage.globals = globals;
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
