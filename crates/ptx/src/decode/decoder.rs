//! From the instructions of a module to those of a program.

use super::at::{At, Decoded};
use super::callee::Callee;
use super::error::DecodeErrorKind::{TooManyRegisters, Twice, UnknownName, Unsupported, Variable};
use super::error::{DecodeError, DecodeErrorKind};
use super::layout::{MOST_SLOTS, Parameter, parameters};
use super::names::{Named, Names, Storage};
use super::op::Op;
use super::parts::List;
use super::program::Program;
use super::special::Special;
use crate::error::shortened;
use crate::flat::{Flat, Step};
use crate::numbers::{Function, General, convert, dot_product, general};
use crate::operations::Operation;
use crate::syntax::{Declaration, Function as Text, Module};
use crate::words::Type;
use std::collections::HashMap;

/// The plain function of an instruction, or the one that is put together for it.
pub(super) fn or_general(
    plain: Option<Function>,
    general: impl FnOnce() -> Option<General>,
) -> Option<Function> {
    plain.or_else(|| general().map(Function::General))
}

/// A place in the code whose target is not known yet.
pub(super) enum Fixup {
    /// An instruction that branches to a step of the function.
    Step { op: usize, step: usize },
    /// Entries of a table, from this one on, that hold numbers of steps.
    Table(List),
    /// A call of the function of this number.
    Call { op: usize, function: usize },
}

pub(super) struct Decoder<'a> {
    pub module: &'a Module,
    /// The function that is decoded.
    pub flat: Flat<'a>,
    pub names: Vec<Names>,
    pub of_module: Names,
    /// Targets of branches by number, by scope and name, of the function that is decoded.
    pub tables: HashMap<(usize, String), List>,
    /// The parameters of the kernel.
    pub of_kernel: Names,
    pub storage: Storage,
    pub code: Vec<Op>,
    places: Vec<(u32, u32)>,
    line: u32,
    column: u32,
    pub lists: Vec<u32>,
    pub constants: HashMap<u64, u32>,
    /// The slot of the carry.
    pub carry: Option<u32>,
    pub special: Vec<(u32, Special)>,
    pub global_slots: Vec<(u32, usize)>,
    pub fixups: Vec<Fixup>,
    /// Functions that are called.
    pub functions: Vec<Callee<'a>>,
    /// The number of the one that is decoded; none for the kernel.
    pub current: Option<usize>,
    errors: Vec<DecodeError>,
}

impl<'a> Decoder<'a> {
    /// The program, as far as it can be decoded, and its errors.
    pub fn run(module: &'a Module, name: &str) -> (Program, Vec<DecodeError>) {
        let mut decoder = Self {
            module,
            flat: Flat::default(),
            names: Vec::new(),
            of_module: Names::default(),
            of_kernel: Names::default(),
            tables: HashMap::new(),
            storage: Storage::default(),
            code: Vec::new(),
            places: Vec::new(),
            line: 0,
            column: 0,
            lists: Vec::new(),
            constants: HashMap::new(),
            carry: None,
            special: Vec::new(),
            global_slots: Vec::new(),
            fixups: Vec::new(),
            functions: Vec::new(),
            current: None,
            errors: Vec::new(),
        };
        for declaration in module.declarations() {
            decoder.declare(None, declaration);
        }
        decoder.check_definitions();
        decoder.place_addresses(0, None);
        let kernel = module.kernels().find(|it| it.name.as_ref() == name);
        let placed = match kernel {
            Some(kernel) => decoder.kernel(kernel),
            None => {
                let kind = UnknownName(name.to_owned());
                decoder.note(kind, name.to_owned(), ".entry".to_owned());
                Vec::new()
            }
        };
        if decoder.storage.slots.len() > MOST_SLOTS {
            decoder.note(TooManyRegisters, name.to_owned(), ".entry".to_owned());
        }
        decoder.finish(name, placed)
    }

    /// Decodes the kernel and what it calls. The result is its parameters.
    fn kernel(&mut self, kernel: &'a Text) -> Vec<Parameter> {
        let placed = parameters(&kernel.signature.parameters).unwrap_or_else(|refused| {
            let name = refused.variables.first().map(|it| it.name.to_string());
            let kind = Variable(name.unwrap_or_default());
            self.note_at(
                refused.line.0,
                kind,
                &refused.to_string(),
                "param".to_owned(),
            );
            Vec::new()
        });
        for parameter in &placed {
            let named = Named::Parameter(parameter.offset as u64);
            self.of_kernel.insert(&parameter.name, named);
        }
        self.function(kernel);
        self.called_functions();
        placed
    }

    fn finish(self, name: &str, parameters: Vec<Parameter>) -> (Program, Vec<DecodeError>) {
        let program = Program {
            name: name.to_owned(),
            file: format!("{name}.ptx"),
            code: self.code,
            places: self.places,
            lists: self.lists,
            slots: self.storage.slots,
            special: self.special,
            parameters,
            // A module may have those of other kernels, too.
            shared: (self.storage.shared.into_iter())
                .filter(|array| array.is_used)
                .collect(),
            global_slots: self.global_slots,
            globals: self.storage.globals,
            local_bytes: self.storage.local_bytes,
        };
        (program, self.errors)
    }

    pub(super) fn note(&mut self, kind: DecodeErrorKind, instruction: String, operation: String) {
        self.note_at(self.line, kind, &instruction, operation);
    }

    pub(super) fn note_at(
        &mut self,
        line: u32,
        kind: DecodeErrorKind,
        text: &str,
        operation: String,
    ) {
        self.errors.push(DecodeError {
            line,
            instruction: shortened(text),
            operation,
            kind: kind.shortened(),
        });
    }

    /// Adds the variables of a declaration to a scope of the function, or to the module's.
    fn declare(&mut self, scope: Option<usize>, declaration: &Declaration) {
        let names = match scope {
            Some(scope) => &mut self.names[scope],
            None => &mut self.of_module,
        };
        if let Err(kind) = names.declare(declaration, &mut self.storage) {
            let text = declaration.memory.text().to_owned();
            self.note_at(declaration.line.0, kind, &declaration.to_string(), text);
        }
    }

    pub(super) fn function(&mut self, function: &'a Text) {
        self.flat = Flat::of(function);
        self.names.clear();
        self.tables.clear();
        for scope in 0..self.flat.scopes.len() {
            let first_global = self.storage.globals.len();
            self.names.push(Names::of(&function.name, scope));
            for (next, declaration) in std::mem::take(&mut self.flat.scopes[scope].declarations) {
                self.names[scope].known_from = next;
                self.declare(Some(scope), declaration);
            }
            self.place_addresses(first_global, Some(scope));
        }
        for (line, label) in std::mem::take(&mut self.flat.twice) {
            self.note_at(line.0, Twice(label.to_owned()), label, "label".to_owned());
        }
        let first_fixup = self.fixups.len();
        let mut starts = Vec::with_capacity(self.flat.steps.len());
        for number in 0..self.flat.steps.len() {
            starts.push(self.code.len() as u32);
            let step = self.flat.steps[number];
            (self.line, self.column) = (step.line.0, step.column.0);
            if let Err(kind) = self.step(number, step) {
                let operation = step.instruction.operation.to_string();
                self.note(kind, step.instruction.to_string(), operation);
            }
        }
        starts.push(self.code.len() as u32);
        self.emit(Op::Return);
        self.resolve(first_fixup, &starts);
    }

    /// Replaces numbers of steps by numbers of instructions.
    fn resolve(&mut self, first: usize, starts: &[u32]) {
        for fixup in self.fixups.split_off(first) {
            match fixup {
                Fixup::Step { op, step } => match &mut self.code[op] {
                    Op::Jump { to } | Op::JumpIf { to, .. } => *to = starts[step],
                    _ => {}
                },
                Fixup::Table(list) => {
                    let entries = list.first as usize..(list.first + list.count) as usize;
                    for entry in &mut self.lists[entries] {
                        *entry = starts[*entry as usize];
                    }
                }
                call @ Fixup::Call { .. } => self.fixups.push(call),
            }
        }
    }

    /// Decodes an instruction behind its guard.
    fn step(&mut self, number: usize, step: Step<'a>) -> Decoded<()> {
        let instruction = step.instruction;
        let at = At {
            scope: step.scope,
            number,
            operands: &instruction.operands,
        };
        let Some(guard) = &instruction.guard else {
            return self.operation(number, step, at);
        };
        let (predicate, _) = self.register(at, &guard.predicate)?;
        let expected = !guard.is_negated;
        if let Some(target) = self.target_of_jump(step) {
            let op = self.code.len();
            self.fixups.push(Fixup::Step { op, step: target? });
            self.emit(Op::JumpIf {
                predicate,
                expected,
                to: 0,
            });
            return Ok(());
        }
        let skip = self.code.len();
        self.emit(Op::JumpIf {
            predicate,
            expected: !expected,
            to: 0,
        });
        let decoded = self.operation(number, step, at);
        let next = self.code.len() as u32;
        if let Op::JumpIf { to, .. } = &mut self.code[skip] {
            *to = next;
        }
        decoded
    }

    fn operation(&mut self, number: usize, step: Step<'a>, at: At<'a>) -> Decoded<()> {
        match &step.instruction.operation {
            Operation::Arithmetic(it) => self.arithmetic(at, it),
            Operation::Bits(it) => self.bits(at, it),
            Operation::BitField(it) => self.bit_field(at, it),
            Operation::Funnel(it) => self.function_of(at, crate::numbers::funnel(it), it.of),
            Operation::DotProduct(it) => {
                let general = || general::dot_product_of_halves(it);
                self.function_of(at, or_general(dot_product(it), general), Type::B32)
            }
            Operation::Convert(it) => {
                let general = || general::convert(it);
                // The third operand of a conversion with random bits has these.
                let of = |number| if number < 2 { it.from } else { Type::B32 };
                self.function_of_each(at, or_general(convert(it), general), of)?;
                self.sign_extended(at, it)
            }
            Operation::TestNumber(it) => {
                self.function_of(at, general::test_number(it).map(Function::General), it.of)
            }
            Operation::Compare(it) => self.compare(at, it),
            Operation::Select(it) => self.select(at, it),
            Operation::Move(it) => self.move_value(at, it),
            Operation::Transfer(it) => self.transfer(at, it),
            Operation::Atomic(it) => self.atomic(at, it),
            Operation::Address(it) => self.convert_address(at, it),
            Operation::ThreadCopy(it) => self.thread_copy(at, it),
            Operation::Branch(it) => self.branch(step, at, it),
            Operation::Product(it) => self.product(at, it),
            Operation::Video(it) => {
                self.function_of(at, general::video(it).map(Function::General), Type::B32)
            }
            Operation::WmmaTransfer(it) => self.wmma_transfer(at, it),
            Operation::WmmaProduct(it) => self.wmma_product(at, it),
            Operation::WmmaHalfProduct(it) => self.wmma_half_product(at, it),
            Operation::MatrixTransfer(it) => self.matrix_transfer(at, it),
            Operation::WarpgroupProduct(it) => self.warpgroup_product(at, it),
            Operation::WarpgroupStep(it) => self.warpgroup_step(number, at, it),
            Operation::Mbarrier(it) => self.mbarrier(at, it),
            Operation::BulkTensor(it) => self.bulk_tensor(at, it),
            Operation::BulkCopy(it) => self.bulk_copy(at, it),
            Operation::Map(it) => self.map(at, it),
            Operation::Sample(it) => self.sample(at, it),
            Operation::CopyArrival(it) => self.copy_arrival(at, it),
            Operation::Policy(_) => self.policy(at),
            Operation::Registers(it) => self.registers(at, it),
            _ => self.synchronisation(at, &step.instruction.operation),
        }
    }

    pub fn emit(&mut self, op: Op) {
        self.code.push(op);
        self.places.push((self.line, self.column));
    }

    /// An instruction that computes one result of the operands behind it.
    pub fn function_of(&mut self, at: At<'_>, function: Option<Function>, of: Type) -> Decoded<()> {
        self.function_of_each(at, function, |_| of)
    }

    /// [`Self::function_of`], with a type for each operand's number.
    pub fn function_of_each(
        &mut self,
        at: At<'_>,
        function: Option<Function>,
        of: impl Fn(usize) -> Type,
    ) -> Decoded<()> {
        let function = function.ok_or(Unsupported)?;
        let ([d], operands) = at.split()?;
        let operands = operands.iter().enumerate();
        let sources = operands.map(|(number, it)| self.source(at, it, of(number)));
        let sources: Vec<u32> = sources.collect::<Result<_, _>>()?;
        let (d, _) = self.destination(at, d)?;
        let op = match (function, sources.as_slice()) {
            (Function::Unary(f), &[a]) => Op::Unary { f, d, a },
            (Function::Binary(f), &[a, b]) => Op::Binary { f, d, a, b },
            (Function::Ternary(f), &[a, b, c]) => Op::Ternary { f, d, a, b, c },
            (Function::Quaternary(f), &[a, b, c, e]) => Op::Quaternary {
                f,
                d,
                operands: [a, b, c, e],
            },
            (Function::General(f), operands) if f.takes(operands.len()) => Op::General {
                f,
                d,
                operands: self.list(sources.into_iter()),
            },
            _ => return Err(Unsupported),
        };
        self.emit(op);
        Ok(())
    }
}
