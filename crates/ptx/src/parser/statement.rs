//! Reads statements.

use super::{Parsed, Parser};
use crate::error::ReadErrorKind;
use crate::lexer::Token;
use crate::operations::Operation;
use crate::syntax::{
    Column, Guard, Inlined, Instruction, Line, Location, Statement, StatementKind, TargetsKind,
};
use crate::words::Memory;

impl<'a> Parser<'a> {
    /// Statements up to the `}`, which is taken, too.
    pub(super) fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while !self.take_mark('}') {
            let (line, column) = (Line(self.line()), Column(self.column()));
            let kind = self.statement()?;
            statements.push(Statement { line, column, kind });
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<StatementKind> {
        match self.peek() {
            Some(Token::Mark('{')) => {
                self.place += 1;
                self.within(Self::statements).map(StatementKind::Block)
            }
            Some(Token::Dot("loc")) => {
                self.place += 1;
                self.location().map(StatementKind::Location)
            }
            Some(Token::Dot("pragma")) => {
                self.place += 1;
                self.pragma().map(StatementKind::Pragma)
            }
            Some(Token::Dot(text)) if Memory::of_text(text).is_some() => {
                let declaration = self.declaration(None)?;
                self.expect_mark(';')?;
                Ok(StatementKind::Declaration(declaration))
            }
            Some(Token::Dot(text)) => self.refused(text),
            Some(Token::Word(label)) if self.peek_at(1) == Some(Token::Mark(':')) => {
                self.place += 2;
                self.labelled(label)
            }
            _ => self.instruction().map(StatementKind::Instruction),
        }
    }

    fn labelled(&mut self, label: &str) -> Parsed<StatementKind> {
        if let Some(kind) = self.take_known(TargetsKind::of_text) {
            let targets = self.list(Self::name)?;
            self.expect_mark(';')?;
            let label = label.into();
            return Ok(StatementKind::Targets {
                label,
                kind,
                targets,
            });
        }
        if self.take_dot("callprototype") {
            let (_, signature) = self.signature()?;
            self.expect_mark(';')?;
            let label = label.into();
            return Ok(StatementKind::Prototype { label, signature });
        }
        Ok(StatementKind::Label(label.into()))
    }

    fn instruction(&mut self) -> Parsed<Instruction> {
        let guard = match self.take_mark('@') {
            true => Some(Guard {
                is_negated: self.take_mark('!'),
                predicate: self.name()?,
            }),
            false => None,
        };
        let line = self.line();
        let mut words = vec![self.expect_word("a statement")?];
        while let Some(Token::Dot(word)) = self.peek() {
            self.place += 1;
            words.push(word);
        }
        let operation = Operation::of_words(&words);
        let operand = match words[0] {
            "call" => Self::operand_of_call,
            _ => Self::operand,
        };
        let operands = self.list_until(';', operand)?;
        if !operation.takes(operands.len()) {
            return Err((
                line,
                ReadErrorKind::Operands {
                    operation: operation.to_string(),
                    found: operands.len(),
                },
            ));
        }
        Ok(Instruction {
            guard,
            operation,
            operands,
        })
    }

    /// What follows `.loc`.
    fn location(&mut self) -> Parsed<Location> {
        let [file, line, column] = self.place_in_file()?;
        let is_inlined = self.peek() == Some(Token::Mark(','))
            && self.peek_at(1) == Some(Token::Word("function_name"));
        let inlined = self.optional(is_inlined, Self::inlined)?;
        Ok(Location {
            file,
            line,
            column,
            inlined,
        })
    }

    /// The function that an instruction was inlined from, from the comma before it on.
    fn inlined(&mut self) -> Parsed<Inlined> {
        self.place += 2;
        let function = self.name()?;
        let offset = self.signed_offset()?;
        self.expect_mark(',')?;
        if self.expect_word("`inlined_at`")? != "inlined_at" {
            self.place -= 1;
            return self.unexpected("`inlined_at`");
        }
        Ok(Inlined {
            function,
            offset,
            at: self.place_in_file()?,
        })
    }

    fn place_in_file(&mut self) -> Parsed<[u32; 3]> {
        Ok([
            self.expect_small()?,
            self.expect_small()?,
            self.expect_small()?,
        ])
    }

    /// What follows `.pragma`.
    pub(super) fn pragma(&mut self) -> Parsed<Vec<Box<str>>> {
        let hints = self.list(|parser| parser.expect_text().map(Box::from))?;
        self.expect_mark(';')?;
        Ok(hints)
    }
}
