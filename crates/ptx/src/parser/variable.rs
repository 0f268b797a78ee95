//! Reads declarations of variables.

use super::{Parsed, Parser};
use crate::lexer::Token;
use crate::syntax::{Declaration, Initial, Line, Linkage, Operand, Pointer, Variable};
use crate::words::{Memory, Type, Vector};

impl Parser<'_> {
    /// A declaration without its end, from the space on.
    pub(super) fn declaration(&mut self, linkage: Option<Linkage>) -> Parsed<Declaration> {
        self.declaration_of(linkage, |parser| parser.list(Self::variable))
    }

    /// A parameter or a result: one variable, which in a prototype has the name `_`.
    pub(super) fn parameter(&mut self) -> Parsed<Declaration> {
        self.declaration_of(None, |parser| Ok(vec![parser.variable()?]))
    }

    fn declaration_of(
        &mut self,
        linkage: Option<Linkage>,
        variables: impl FnOnce(&mut Self) -> Parsed<Vec<Variable>>,
    ) -> Parsed<Declaration> {
        let line = Line(self.line());
        let Some(memory) = self.take_known(Memory::of_text) else {
            return self.unexpected("a state space");
        };
        let mut alignment = self.alignment()?;
        let vector = self.take_known(Vector::of_text);
        let Some(of) = self.take_known(Type::of_text) else {
            return self.unexpected("a type");
        };
        if alignment.is_none() {
            alignment = self.alignment()?;
        }
        Ok(Declaration {
            line,
            linkage,
            memory,
            alignment,
            vector,
            of,
            pointer: self.pointer()?,
            variables: variables(self)?,
        })
    }

    fn alignment(&mut self) -> Parsed<Option<u64>> {
        let is_there = self.take_dot("align");
        self.optional(is_there, Self::expect_integer)
    }

    fn pointer(&mut self) -> Parsed<Option<Pointer>> {
        if !self.take_dot("ptr") {
            return Ok(None);
        }
        Ok(Some(Pointer {
            memory: self.take_known(Memory::of_text),
            alignment: self.alignment()?,
        }))
    }

    fn variable(&mut self) -> Parsed<Variable> {
        let name = self.expect_word("the name of a variable")?.into();
        let has_count = self.take_mark('<');
        let count = self.optional(has_count, |parser| {
            let count = parser.expect_integer()?;
            parser.expect_mark('>').map(|()| count)
        })?;
        let mut dimensions = Vec::new();
        while self.take_mark('[') {
            let length = match self.peek() {
                Some(Token::Mark(']')) => None,
                _ => Some(self.expect_integer()?),
            };
            self.expect_mark(']')?;
            dimensions.push(length);
        }
        let is_initialised = self.take_mark('=');
        let initial = self.optional(is_initialised, Self::initial)?;
        Ok(Variable {
            name,
            count,
            dimensions,
            initial,
        })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        if self.take_mark('{') {
            let values = self.within(|parser| parser.list_until('}', Self::initial));
            return values.map(Initial::List);
        }
        if self.peek() == Some(Token::Word("generic")) {
            self.place += 1;
            self.expect_mark('(')?;
            let name = self.name()?;
            self.expect_mark(')')?;
            return Ok(Initial::Generic(name, self.signed_offset()?));
        }
        let value = match self.peek() {
            Some(Token::Word("WARP_SZ")) => self.constant(),
            _ => self.operand(),
        };
        match value? {
            value @ (Operand::Name(_)
            | Operand::Offset(..)
            | Operand::Integer(_)
            | Operand::Single(_)
            | Operand::Double(_)) => Ok(Initial::Value(value)),
            _ => self.unexpected("an initial value before it"),
        }
    }
}
