//! Reads operands.

use super::{Parsed, Parser};
use crate::error::{ReadErrorKind, shortened};
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
            Some(Token::Mark('(')) => {
                self.place += 1;
                let elements = self.within(|parser| parser.list_until(')', Self::operand));
                elements.map(Operand::List)
            }
            Some(Token::Mark('[')) => {
                self.place += 1;
                self.memory()
            }
            Some(Token::Mark('!')) => {
                self.place += 1;
                self.name().map(Operand::Negated)
            }
            Some(Token::Word(_)) => self.named(),
            _ => self.number(),
        }
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

    fn number(&mut self) -> Parsed<Operand> {
        let line = self.line();
        let is_negative = self.take_mark('-');
        let negated = |value: f64| if is_negative { -value } else { value };
        let number = match self.peek() {
            Some(Token::Integer(value)) => {
                let value = i128::from(value);
                let value = if is_negative { -value } else { value };
                if value < i128::from(i64::MIN) {
                    return Err((line, ReadErrorKind::Number(value.to_string())));
                }
                Operand::Integer(value)
            }
            Some(Token::Single(bits)) if !is_negative => Operand::Single(bits),
            Some(Token::Double(bits)) if !is_negative => Operand::Double(bits),
            Some(Token::Decimal(text)) => match text.parse::<f64>() {
                Ok(value) => Operand::Double(negated(value).to_bits()),
                Err(_) => return Err((line, ReadErrorKind::Number(shortened(text)))),
            },
            _ => return self.unexpected("an operand"),
        };
        self.place += 1;
        Ok(number)
    }
}
