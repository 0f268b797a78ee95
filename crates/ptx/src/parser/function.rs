//! Reads kernels and functions.

use super::{Parsed, Parser};
use crate::lexer::Token;
use crate::syntax::{Bound, BoundKind, Function, FunctionKind, Linkage, Signature};

impl Parser<'_> {
    /// A function, from after `.entry` or `.func`.
    pub(super) fn function(
        &mut self,
        linkage: Option<Linkage>,
        kind: FunctionKind,
    ) -> Parsed<Function> {
        let (name, signature) = self.signature()?;
        let has_body = !self.take_mark(';');
        let body = self.optional(has_body, |parser| {
            parser.expect_mark('{')?;
            parser.statements()
        })?;
        Ok(Function {
            linkage,
            kind,
            name,
            signature,
            body,
        })
    }

    /// A name with the parts before and after it.
    pub(super) fn signature(&mut self) -> Parsed<(Box<str>, Signature)> {
        let results = self.parameters()?;
        let name = self.expect_word("the name of a function")?.into();
        let parameters = self.parameters()?;
        let bounds = self.bounds()?;
        Ok((
            name,
            Signature {
                results,
                parameters,
                bounds,
            },
        ))
    }

    fn parameters(&mut self) -> Parsed<Vec<crate::syntax::Declaration>> {
        match self.take_mark('(') {
            true => self.list_until(')', Self::parameter),
            false => Ok(Vec::new()),
        }
    }

    fn bounds(&mut self) -> Parsed<Vec<Bound>> {
        let mut bounds = Vec::new();
        while let Some(Token::Dot(text)) = self.peek() {
            self.place += 1;
            if text == "pragma" {
                bounds.push(Bound::Pragma(self.pragma()?));
                continue;
            }
            let Some(kind) = BoundKind::of_text(text) else {
                self.place -= 1;
                return self.refused(text);
            };
            let numbers = match self.peek() {
                Some(Token::Integer(_)) => self.list(Self::expect_integer)?,
                _ => Vec::new(),
            };
            bounds.push(Bound::Numbers(kind, numbers));
        }
        Ok(bounds)
    }
}
