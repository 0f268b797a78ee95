//! Reads modules.

use super::{Parsed, Parser};
use crate::error::{ReadError, ReadErrorKind};
use crate::lexer::{Token, line_of, placed_tokens};
use crate::syntax::{File, FunctionKind, Item, Linkage, Module, Section};
use crate::words::Memory;
use std::str::FromStr;

impl FromStr for Module {
    type Err = ReadError;

    /// Reads a module.
    ///
    /// # Errors
    /// The text is not PTX, or has directives that this crate does not know. Unknown instructions are no errors
    /// ([`Operation::Other`](crate::Operation::Other)).
    fn from_str(text: &str) -> Result<Self, ReadError> {
        let tokens = placed_tokens(text)?;
        let module = Parser::new(&tokens).module();
        module.map_err(|(line, kind)| ReadError {
            line,
            text: line_of(text, line),
            kind,
        })
    }
}

impl Parser<'_> {
    pub(crate) fn module(&mut self) -> Parsed<Module> {
        let version = self.version()?;
        if !self.take_dot("target") {
            return self.unexpected("`.target`");
        }
        let target = self.list(|parser| parser.expect_word("an architecture").map(Box::from))?;
        let has_size = self.take_dot("address_size");
        let address_size = self.optional(has_size, Self::expect_integer)?;
        let mut items = Vec::new();
        while self.peek().is_some() {
            items.push(self.item()?);
        }
        Ok(Module {
            version,
            target,
            address_size,
            items,
        })
    }

    fn version(&mut self) -> Parsed<(u32, u32)> {
        if !self.take_dot("version") {
            return self.unexpected("`.version`");
        }
        self.expect("a version", |token| match token {
            Token::Decimal(text) => {
                let (major, minor) = text.split_once('.')?;
                Some((major.parse().ok()?, minor.parse().ok()?))
            }
            _ => None,
        })
    }

    fn item(&mut self) -> Parsed<Item> {
        let linkage = self.take_known(Linkage::of_text);
        if let Some(kind) = self.take_known(FunctionKind::of_text) {
            return self.function(linkage, kind).map(Item::Function);
        }
        match self.peek() {
            Some(Token::Dot(text)) if Memory::of_text(text).is_some() => {
                let declaration = self.declaration(linkage)?;
                self.expect_mark(';')?;
                Ok(Item::Declaration(declaration))
            }
            Some(Token::Dot("file")) => {
                self.place += 1;
                self.file().map(Item::File)
            }
            Some(Token::Dot("section")) => {
                self.place += 1;
                self.section().map(Item::Section)
            }
            Some(Token::Dot(text)) => self.refused(text),
            _ => self.unexpected("a directive"),
        }
    }

    fn file(&mut self) -> Parsed<File> {
        let number = self.expect_integer()?;
        let path = self.expect_text()?.into();
        let has_stamp = self.take_mark(',');
        let stamp = self.optional(has_stamp, |parser| {
            let time = parser.expect_integer()?;
            parser.expect_mark(',')?;
            Ok((time, parser.expect_integer()?))
        })?;
        Ok(File {
            number,
            path,
            stamp,
        })
    }

    /// Debugging information is kept as it is.
    fn section(&mut self) -> Parsed<Section> {
        let name = self.take_known(|text| Some(format!(".{text}")));
        let Some(name) = name else {
            return self.unexpected("the name of a section");
        };
        self.expect_mark('{')?;
        let mut tokens: Vec<Box<str>> = Vec::new();
        loop {
            let Some(token) = self.take(Some) else {
                let error = ReadErrorKind::Unterminated("a section");
                return Err((self.line(), error));
            };
            match token {
                Token::Mark('}') => break,
                token => tokens.push(written(token).into()),
            }
        }
        Ok(Section {
            name: name.into(),
            tokens,
        })
    }
}

/// A token as it is written.
fn written(token: Token<'_>) -> String {
    let quoted = token.to_string();
    let text = quoted.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
    text.map_or(quoted.clone(), str::to_owned)
}
