//! Reads operands.

use super::{Parsed, Parser};
use crate::lexer::Token;
use crate::syntax::Operand;

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> Parsed<Operand> {
        match self.peek() {
            Some(Token::Mark('{')) => {
                self.place += 1;
                let elements = self.within(|parser| parser.list_until('}', Self::operand));
                elements.map(Operand::Vector)
            }
            Some(Token::Mark('[')) => {
                self.place += 1;
                self.memory()
            }
            Some(Token::Mark('!')) if matches!(self.peek_at(1), Some(Token::Word(_))) => {
                self.place += 1;
                self.name().map(Operand::Negated)
            }
            Some(Token::Word(name)) if name != "WARP_SZ" || !self.is_before_operator() => {
                self.named()
            }
            _ => self.constant(),
        }
    }

    /// An operand of a call, which may be a list of arguments or results.
    pub(super) fn operand_of_call(&mut self) -> Parsed<Operand> {
        if !self.take_mark('(') {
            return self.operand();
        }
        let elements = self.within(|parser| parser.list_until(')', Self::operand));
        elements.map(Operand::List)
    }

    /// A name, with the components of a special register or of a vector.
    pub(super) fn name(&mut self) -> Parsed<Box<str>> {
        let word = self.expect_word("a name")?;
        let Some(component) = self.take_known(|text| Some(text.to_owned())) else {
            return Ok(word.into());
        };
        Ok(format!("{word}.{component}").into())
    }

    fn named(&mut self) -> Parsed<Operand> {
        let name = self.name()?;
        if self.take_mark('|') {
            return Ok(Operand::Pair(name, self.name()?));
        }
        match self.peek() {
            Some(Token::Mark('+' | '-')) => Ok(Operand::Offset(name, self.offset()?)),
            _ => Ok(Operand::Name(name)),
        }
    }

    /// What follows the `[`.
    fn memory(&mut self) -> Parsed<Operand> {
        if !matches!(self.peek(), Some(Token::Word(_))) {
            let offset = self.offset()?;
            self.expect_mark(']')?;
            return Ok(Operand::Memory(None, offset));
        }
        let name = self.name()?;
        if self.take_mark(',') {
            self.expect_mark('{')?;
            let coordinates = self.list_until('}', Self::operand)?;
            self.expect_mark(']')?;
            return Ok(Operand::Tensor(name, coordinates));
        }
        let offset = self.signed_offset()?;
        self.expect_mark(']')?;
        Ok(Operand::Memory(Some(name), offset))
    }
}
