//! Calls of functions.
//!
//! Each function has its parameters, its results and its registers at one place, as if it were called once at a time.
//! So a function that calls itself, through others or not, is refused.

use super::at::{At, Decoded};
use super::callee::Callee;
use super::decoder::{Decoder, Fixup};
use super::error::DecodeErrorKind::{
    Operand as WrongOperand, Size, Twice, UnknownName, Unsupported,
};
use super::names::{Named, Names};
use super::op::Op;
use super::parts::{Access, AddressSpace, Pointer};
use crate::syntax::{Declaration, Function, Operand};
use crate::words::Type;
use simt::AccessKind;
use std::collections::HashSet;

impl<'a> Decoder<'a> {
    /// Passes the arguments, calls the function, and takes its results.
    pub(super) fn call(
        &mut self,
        at: At<'a>,
        name: &'a str,
        arguments: &'a [Operand],
        results: &'a [Operand],
    ) -> Decoded<()> {
        if self.function_named(name).is_none() && self.system_call(at, name, arguments, results)? {
            return Ok(());
        }
        let callee = self.callee(name)?;
        if let Some(caller) = self.current {
            self.functions[caller].calls.push(callee);
        }
        let formals = self.functions[callee].parameters.clone();
        if formals.len() != arguments.len() {
            return Err(Unsupported);
        }
        for ((formal, of), argument) in formals.into_iter().zip(arguments) {
            self.pass(at, formal, argument, of)?;
        }
        let op = self.code.len();
        self.fixups.push(Fixup::Call {
            op,
            function: callee,
        });
        self.emit(Op::Nothing);
        let formals = self.functions[callee].results.clone();
        if formals.len() != results.len() {
            return Err(Unsupported);
        }
        for ((formal, of), result) in formals.into_iter().zip(results) {
            self.take(at, formal, result, of)?;
        }
        Ok(())
    }

    /// The number of a function, whose parameters are declared when it is first called.
    fn callee(&mut self, name: &'a str) -> Decoded<usize> {
        if let Some(known) = self.functions.iter().position(|it| it.name == name) {
            return Ok(known);
        }
        let unknown = || UnknownName(name.to_owned());
        let function = self.function_named(name).ok_or_else(unknown)?;
        let mut names = Names::default();
        let parameters = self.formals(&function.signature.parameters, &mut names)?;
        let results = self.formals(&function.signature.results, &mut names)?;
        self.functions.push(Callee {
            name,
            start: 0,
            names,
            parameters,
            results,
            calls: Vec::new(),
        });
        Ok(self.functions.len() - 1)
    }

    /// Decodes functions that are called, until none is missing.
    pub(super) fn called_functions(&mut self) {
        let mut next = 0;
        while next < self.functions.len() {
            self.current = Some(next);
            self.functions[next].start = self.code.len();
            if let Some(function) = self.function_named(self.functions[next].name) {
                self.function(function);
            }
            next += 1;
        }
        for fixup in std::mem::take(&mut self.fixups) {
            if let Fixup::Call { op, function } = fixup {
                let to = self.functions[function].start as u32;
                self.code[op] = Op::Call { to };
            }
        }
        if let Some(name) = self.recursive() {
            let text = format!("a function that calls itself: {name}");
            self.note(Unsupported, text, "call".to_owned());
        }
    }

    /// Notes functions that have the body of another of their name.
    pub(super) fn check_definitions(&mut self) {
        let mut defined = HashSet::new();
        for function in self.module.functions().filter(|it| it.body.is_some()) {
            if !defined.insert(&function.name) {
                let name = function.name.to_string();
                let operation = format!(".{}", function.kind.text());
                self.note(Twice(name.clone()), name, operation);
            }
        }
    }

    /// The function of this name that has a body.
    pub(super) fn function_named(&self, name: &str) -> Option<&'a Function> {
        let mut functions = self.module.functions();
        functions.find(|it| it.name.as_ref() == name && it.body.is_some())
    }

    fn formals(&mut self, them: &[Declaration], names: &mut Names) -> Decoded<Vec<(Named, Type)>> {
        let formals = them.iter().map(|declaration| {
            names.declare(declaration, &mut self.storage)?;
            let variable = declaration.variables.first().ok_or(Unsupported)?;
            let named = names.get(&variable.name).ok_or(Unsupported)?;
            Ok((named, declaration.of))
        });
        formals.collect()
    }

    fn pass(&mut self, at: At<'_>, formal: Named, argument: &Operand, of: Type) -> Decoded<()> {
        match formal {
            Named::Local { place: to, bytes } if self.is_local(at, argument) => {
                let from = self.place_in_local(at, argument, bytes)?;
                let bytes = bytes as u32;
                self.emit(Op::CopyLocal { to, from, bytes });
            }
            Named::Local { place, bytes } => {
                self.check_width(at, argument, bytes)?;
                let value = self.source(at, argument, of)?;
                let access = self.of_local(AccessKind::Write, place, of, (value, bytes))?;
                self.emit(Op::Store(access));
            }
            Named::Register { slot: d, .. } => {
                let a = self.source(at, argument, of)?;
                self.emit(Op::Copy { d, a });
            }
            _ => return Err(WrongOperand(argument.to_string())),
        }
        Ok(())
    }

    fn take(&mut self, at: At<'_>, formal: Named, result: &Operand, of: Type) -> Decoded<()> {
        match formal {
            Named::Local { place: from, bytes } if self.is_local(at, result) => {
                let to = self.place_in_local(at, result, bytes)?;
                let bytes = bytes as u32;
                self.emit(Op::CopyLocal { to, from, bytes });
            }
            Named::Local { place, bytes } => {
                self.check_width(at, result, bytes)?;
                let (d, _) = self.destination(at, result)?;
                let access = self.of_local(AccessKind::Read, place, of, (d, bytes))?;
                self.emit(Op::Load(access));
            }
            Named::Register { slot: a, .. } => {
                let (d, _) = self.destination(at, result)?;
                self.emit(Op::Copy { d, a });
            }
            _ => return Err(WrongOperand(result.to_string())),
        }
        Ok(())
    }

    fn is_local(&self, at: At<'_>, operand: &Operand) -> bool {
        let Operand::Name(name) = operand else {
            return false;
        };
        matches!(self.named(at, name), Some(Named::Local { .. }))
    }

    /// A register that is an argument or a result has as many bytes as the function says.
    fn check_width(&self, at: At<'_>, operand: &Operand, expected: usize) -> Decoded<()> {
        let Operand::Name(name) = operand else {
            return Ok(());
        };
        match self.named(at, name) {
            Some(Named::Register { bits, .. }) if bits as usize != 8 * expected => Err(Size {
                name: name.to_string(),
                found: bits as usize / 8,
                expected,
            }),
            _ => Ok(()),
        }
    }

    /// The access by which an argument or a result is copied from a slot, or to one.
    fn of_local(
        &mut self,
        kind: AccessKind,
        place: u64,
        of: Type,
        (slot, bytes): (u32, usize),
    ) -> Decoded<Access> {
        let is_whole = of.bits().is_some_and(|bits| bits as usize == 8 * bytes) && bytes <= 8;
        if !is_whole {
            return Err(Unsupported);
        }
        let pointer = Pointer {
            space: AddressSpace::Local,
            address: self.constant(place),
            offset: 0,
        };
        Ok(Access {
            pointer,
            kind,
            ordering: None,
            element: bytes as u32,
            signed_to: None,
            values: self.list(std::iter::once(slot)),
        })
    }

    /// The place of an argument or a result in local memory, which has `expected` bytes.
    pub(super) fn place_in_local(
        &self,
        at: At<'_>,
        operand: &Operand,
        expected: usize,
    ) -> Decoded<u64> {
        let Operand::Name(name) = operand else {
            return Err(WrongOperand(operand.to_string()));
        };
        match self.named(at, name) {
            Some(Named::Local { place, bytes }) if bytes == expected => Ok(place),
            Some(Named::Local { bytes: found, .. }) => Err(Size {
                name: name.to_string(),
                found,
                expected,
            }),
            _ => Err(WrongOperand(name.to_string())),
        }
    }

    /// A function that calls itself.
    pub(super) fn recursive(&self) -> Option<&'a str> {
        let calls = |from: usize| {
            let mut reached = vec![false; self.functions.len()];
            let mut next = self.functions[from].calls.clone();
            while let Some(function) = next.pop() {
                if !std::mem::replace(&mut reached[function], true) {
                    next.extend(&self.functions[function].calls);
                }
            }
            reached[from]
        };
        let recursive = (0..self.functions.len()).find(|function| calls(*function));
        recursive.map(|function| self.functions[function].name)
    }
}
