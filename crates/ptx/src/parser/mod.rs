//! From tokens to a module.

mod constant;
mod function;
mod module;
mod operand;
mod statement;
mod variable;

use crate::error::{ReadErrorKind, shortened};
use crate::lexer::{Placed, Token};
use crate::syntax::Operand;

/// A failure and its line.
pub(crate) type Failure = (u32, ReadErrorKind);
type Parsed<T> = Result<T, Failure>;

/// The tokens of a module, and the number that were read.
pub(crate) struct Parser<'a> {
    tokens: &'a [Placed<'a>],
    place: usize,
    /// The brackets that are open around what is read by a call of itself.
    depth: usize,
}

/// The most brackets within each other. Each is a call, as it is when the module is decoded, printed or dropped.
const MOST_BRACKETS: usize = 64;

impl<'a> Parser<'a> {
    pub fn new(tokens: &'a [Placed<'a>]) -> Self {
        Self {
            tokens,
            place: 0,
            depth: 0,
        }
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.peek_at(0)
    }

    fn peek_at(&self, distance: usize) -> Option<Token<'a>> {
        self.tokens.get(self.place + distance).map(|it| it.token)
    }

    /// The line of the next token, or of the last one.
    fn line(&self) -> u32 {
        self.here().map_or(1, |it| it.line)
    }

    /// The column of the next token, or of the last one.
    fn column(&self) -> u32 {
        self.here().map_or(1, |it| it.column)
    }

    fn here(&self) -> Option<&Placed<'a>> {
        self.tokens.get(self.place).or(self.tokens.last())
    }

    /// The next token is not `expected`.
    fn unexpected<T>(&self, expected: &'static str) -> Parsed<T> {
        let found = self.peek();
        let found = found.map_or_else(|| "the end".to_owned(), |it| it.to_string());
        let found = shortened(&found);
        Err((self.line(), ReadErrorKind::Unexpected { expected, found }))
    }

    /// Takes the next token if `read` accepts it.
    fn take<T>(&mut self, read: impl FnOnce(Token<'a>) -> Option<T>) -> Option<T> {
        let value = self.peek().and_then(read)?;
        self.place += 1;
        Some(value)
    }

    fn take_mark(&mut self, mark: char) -> bool {
        self.take(|it| (it == Token::Mark(mark)).then_some(()))
            .is_some()
    }

    fn take_dot(&mut self, text: &str) -> bool {
        self.take(|it| (it == Token::Dot(text)).then_some(()))
            .is_some()
    }

    /// Takes a modifier or a directive if `read` knows it.
    fn take_known<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        self.take(|it| match it {
            Token::Dot(text) => read(text),
            _ => None,
        })
    }

    fn expect_mark(&mut self, mark: char) -> Parsed<()> {
        if self.take_mark(mark) {
            return Ok(());
        }
        self.unexpected(match mark {
            ';' => "`;`",
            ',' => "`,`",
            '(' => "`(`",
            ')' => "`)`",
            '[' => "`[`",
            ']' => "`]`",
            '{' => "`{`",
            '}' => "`}`",
            ':' => "`:`",
            '>' => "`>`",
            _ => "another mark",
        })
    }

    /// Takes the next token, which `read` must accept.
    fn expect<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(Token<'a>) -> Option<T>,
    ) -> Parsed<T> {
        self.take(read)
            .map_or_else(|| self.unexpected(expected), Ok)
    }

    fn expect_word(&mut self, expected: &'static str) -> Parsed<&'a str> {
        self.expect(expected, |it| match it {
            Token::Word(text) => Some(text),
            _ => None,
        })
    }

    fn expect_integer(&mut self) -> Parsed<u64> {
        self.expect("an integer", |it| match it {
            Token::Integer(value) | Token::Unsigned(value) => Some(value),
            _ => None,
        })
    }

    fn expect_small(&mut self) -> Parsed<u32> {
        let line = self.line();
        let value = self.expect_integer()?;
        u32::try_from(value).map_err(|_| (line, ReadErrorKind::Number(value.to_string())))
    }

    fn expect_text(&mut self) -> Parsed<&'a str> {
        self.expect("a string", |it| match it {
            Token::Text(text) => Some(text),
            _ => None,
        })
    }

    /// An optional item that `read` reads.
    fn optional<T>(
        &mut self,
        is_there: bool,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        is_there.then(|| read(self)).transpose()
    }

    /// One or more items that `read` reads, with commas between them.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![read(self)?];
        while self.take_mark(',') {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// A list, which may be empty, up to a mark, which is taken, too.
    fn list_until<T>(
        &mut self,
        close: char,
        read: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        if self.take_mark(close) {
            return Ok(Vec::new());
        }
        let items = self.list(read)?;
        self.expect_mark(close)?;
        Ok(items)
    }

    /// An item that `read` reads, within brackets that have just been opened.
    fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MOST_BRACKETS {
            return Err((self.line(), ReadErrorKind::Nesting(MOST_BRACKETS)));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// An integer, or what operators make of integers, as a distance of 64 bits.
    fn offset(&mut self) -> Parsed<i64> {
        let line = self.line();
        let value = match self.constant()? {
            Operand::Integer(value) => return Ok(value as i64),
            other => other.to_string(),
        };
        Err((line, ReadErrorKind::Number(value)))
    }

    /// An offset that begins with its sign; 0 if there is none.
    fn signed_offset(&mut self) -> Parsed<i64> {
        match self.peek() {
            Some(Token::Mark('+' | '-')) => self.offset(),
            _ => Ok(0),
        }
    }

    /// The next directive is not allowed here.
    fn refused<T>(&self, directive: &str) -> Parsed<T> {
        Err((
            self.line(),
            ReadErrorKind::Directive(format!(".{directive}")),
        ))
    }
}
