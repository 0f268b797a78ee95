//! Tokens of PTX.

use crate::error::{ReadError, ReadErrorKind, shortened};

/// A token, as a part of the text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Token<'a> {
    /// An identifier: of an instruction, a register with its `%`, a variable or a label.
    Word(&'a str),
    /// A modifier, a directive or a type, without its dot: `shared::cta`, `reg`, `f32`.
    Dot(&'a str),
    /// An integer. A sign is a token of its own.
    Integer(u64),
    /// An integer with the suffix `U`.
    Unsigned(u64),
    /// A decimal number with a dot or an exponent, as it is written.
    Decimal(&'a str),
    /// The bits of an f32: `0f3F800000`.
    Single(u32),
    /// The bits of an f64: `0d3FF0000000000000`.
    Double(u64),
    /// A string, without its quotes. Escapes are left as they are.
    Text(&'a str),
    /// Any other character.
    Mark(char),
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(text) | Self::Decimal(text) => write!(formatter, "`{text}`"),
            Self::Dot(text) => write!(formatter, "`.{text}`"),
            Self::Integer(value) => write!(formatter, "`{value}`"),
            Self::Unsigned(value) => write!(formatter, "`{value}U`"),
            Self::Single(bits) => write!(formatter, "`0f{bits:08X}`"),
            Self::Double(bits) => write!(formatter, "`0d{bits:016X}`"),
            Self::Text(text) => write!(formatter, "\"{text}\""),
            Self::Mark(mark) => write!(formatter, "`{mark}`"),
        }
    }
}

/// The tokens of `text`, each with its line, from 1.
///
/// # Errors
/// A character that begins no token, a comment or a string without an end, a number of more than 64 bits.
///
/// ```
/// use ptx::Token;
///
/// let tokens = ptx::tokens("add.s32 %r1, 4; // a sum")?;
/// assert_eq!(tokens[..3], [(1, Token::Word("add")), (1, Token::Dot("s32")), (1, Token::Word("%r1"))]);
/// # Ok::<(), ptx::ReadError>(())
/// ```
pub fn tokens(text: &str) -> Result<Vec<(u32, Token<'_>)>, ReadError> {
    let tokens = placed_tokens(text)?;
    Ok(tokens.into_iter().map(|it| (it.line, it.token)).collect())
}

/// A token with its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    /// Its line, from 1.
    pub line: u32,
    /// Its column in bytes, from 1.
    pub column: u32,
    pub token: Token<'a>,
}

/// The [`tokens`] of `text` with their columns.
pub(crate) fn placed_tokens(text: &str) -> Result<Vec<Placed<'_>>, ReadError> {
    let mut lexer = Lexer {
        text,
        place: 0,
        line: 1,
        line_start: 0,
    };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next().map_err(|(line, kind)| ReadError {
        line,
        text: line_of(text, line),
        kind,
    })? {
        tokens.push(token);
    }
    Ok(tokens)
}

/// The text of line number `line`, without blanks around it.
pub(crate) fn line_of(text: &str, line: u32) -> String {
    let of_line = text.lines().nth(line.saturating_sub(1) as usize);
    shortened(of_line.unwrap_or_default().trim())
}

type Failure = (u32, ReadErrorKind);

struct Lexer<'a> {
    text: &'a str,
    place: usize,
    line: u32,
    /// The place at which the line begins.
    line_start: usize,
}

/// Whether a byte continues an identifier.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// Whether a byte continues a modifier: those of the second-level cache and of proxies have colons.
fn is_of_modifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':')
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<Placed<'a>>, Failure> {
        self.skip_blanks()?;
        let (line, column) = (self.line, (self.place - self.line_start) as u32 + 1);
        Ok(self.token()?.map(|token| Placed {
            line,
            column,
            token,
        }))
    }

    fn token(&mut self) -> Result<Option<Token<'a>>, Failure> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(None);
        };
        let bytes = rest.as_bytes();
        let token = match bytes[0] {
            b'0'..=b'9' => return self.number().map(Some),
            b'"' => return self.string().map(Some),
            b'.' => Token::Dot(&self.take(1, is_of_modifier)[1..]),
            b'%' if bytes.get(1).is_some_and(|it| is_of_word(*it)) => {
                Token::Word(self.take(1, is_of_word))
            }
            byte if is_of_word(byte) => Token::Word(self.take(0, is_of_word)),
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b';' | b':' | b'+'
            | b'-' | b'!' | b'|' | b'=' | b'@' | b'~' | b'*' | b'/' | b'%' | b'&' | b'^' | b'?' => {
                self.place += 1;
                Token::Mark(first)
            }
            _ => return Err((self.line, ReadErrorKind::Character(first))),
        };
        Ok(Some(token))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.place..]
    }

    /// The first `least` bytes and those behind them that `belongs` accepts.
    fn take(&mut self, least: usize, belongs: fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let more = rest.bytes().skip(least).take_while(|byte| belongs(*byte));
        let length = least + more.count();
        self.place += length;
        &rest[..length]
    }

    fn skip_blanks(&mut self) -> Result<(), Failure> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_ascii_start().len();
            let skipped = if blanks > 0 {
                blanks
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                let end = rest.find("*/");
                end.ok_or((self.line, ReadErrorKind::Unterminated("a comment")))? + 2
            } else {
                return Ok(());
            };
            let lines = rest[..skipped].bytes().filter(|byte| *byte == b'\n');
            self.line += lines.count() as u32;
            if let Some(last) = rest[..skipped].rfind('\n') {
                self.line_start = self.place + last + 1;
            }
            self.place += skipped;
        }
    }

    fn string(&mut self) -> Result<Token<'a>, Failure> {
        let rest = &self.rest()[1..];
        let mut is_escaped = false;
        let end = rest.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        let end = end.ok_or((self.line, ReadErrorKind::Unterminated("a string")))?;
        self.place += end + 2;
        Ok(Token::Text(&rest[..end]))
    }

    fn number(&mut self) -> Result<Token<'a>, Failure> {
        let whole = self.take(1, |byte| byte.is_ascii_alphanumeric());
        let line = self.line;
        let error = || (line, ReadErrorKind::Number(shortened(whole)));
        let digits = |text: &str, radix| u64::from_str_radix(text, radix).map_err(|_| error());
        let integer = |text: &str, radix| match text.strip_suffix(['U', 'u']) {
            Some(text) => Ok(Token::Unsigned(digits(text, radix)?)),
            None => Ok(Token::Integer(digits(text, radix)?)),
        };
        match whole.as_bytes() {
            [b'0', b'f' | b'F', ..] if whole.len() == 10 => {
                Ok(Token::Single(digits(&whole[2..], 16)? as u32))
            }
            [b'0', b'd' | b'D', ..] if whole.len() == 18 => {
                Ok(Token::Double(digits(&whole[2..], 16)?))
            }
            [b'0', b'x' | b'X', ..] => integer(&whole[2..], 16),
            [b'0', b'b' | b'B', ..] => integer(&whole[2..], 2),
            _ if self.continues_decimal(whole) => Ok(self.decimal(whole)),
            [b'0', b'0'..=b'9', ..] => integer(&whole[1..], 8),
            _ => integer(whole, 10),
        }
    }

    /// Whether the number that begins with `whole` has a fraction or an exponent. A dimension as in `.3d` belongs to a
    /// modifier, and comes not here.
    fn continues_decimal(&self, whole: &str) -> bool {
        let has_fraction = self.rest().starts_with('.')
            && whole.bytes().all(|byte| byte.is_ascii_digit())
            && !self.rest()[1..].starts_with(|it: char| it.is_ascii_alphabetic());
        has_fraction || whole.contains(['e', 'E'])
    }

    fn decimal(&mut self, whole: &'a str) -> Token<'a> {
        let start = self.place - whole.len();
        if self.rest().starts_with('.') {
            self.take(1, |byte| byte.is_ascii_alphanumeric());
        }
        let so_far = &self.text[start..self.place];
        if so_far.ends_with(['e', 'E']) && self.rest().starts_with(['+', '-']) {
            self.take(1, |byte| byte.is_ascii_digit());
        }
        Token::Decimal(&self.text[start..self.place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Vec<Token<'_>> {
        let tokens = tokens(text).unwrap();
        tokens.into_iter().map(|(_, token)| token).collect()
    }

    #[test]
    fn numbers_of_each_kind() {
        assert_eq!(
            plain("12 0x1F 0b101 017 0U 7U 0f3F800000 0d3FF0000000000000 8.0 1e-3 2.5E+1"),
            [
                Token::Integer(12),
                Token::Integer(31),
                Token::Integer(5),
                Token::Integer(15),
                Token::Unsigned(0),
                Token::Unsigned(7),
                Token::Single(0x3f80_0000),
                Token::Double(0x3ff0_0000_0000_0000),
                Token::Decimal("8.0"),
                Token::Decimal("1e-3"),
                Token::Decimal("2.5E+1"),
            ]
        );
    }

    #[test]
    fn modifiers_with_colons_and_digits() {
        assert_eq!(
            plain("cp.async.bulk.tensor.3d.shared::cluster"),
            [
                Token::Word("cp"),
                Token::Dot("async"),
                Token::Dot("bulk"),
                Token::Dot("tensor"),
                Token::Dot("3d"),
                Token::Dot("shared::cluster"),
            ]
        );
    }

    #[test]
    fn lines_count_on_in_comments() {
        let found = tokens("/* one\ntwo */ ret; // end\nexit;").unwrap();
        let lines: Vec<u32> = found.into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2, 2, 3, 3]);
    }

    #[test]
    fn what_is_no_token_names_its_line() {
        let error = tokens("ret;\n  add # 1;").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the character '#' begins nothing: `add # 1;`"
        );
        assert_eq!(
            tokens("/* no end").unwrap_err().kind,
            ReadErrorKind::Unterminated("a comment")
        );
        assert!(matches!(
            tokens("18446744073709551616").unwrap_err().kind,
            ReadErrorKind::Number(_)
        ));
    }
}
