//! Reads constant expressions: numbers, and C's operators between them. What the PTX ISA leaves open is as in `ptxas`.

use super::{Parsed, Parser};
use crate::error::{ReadErrorKind, shortened};
use crate::lexer::Token;
use crate::syntax::Operand;
use crate::words::Type;

/// The value of a constant expression.
#[derive(Clone, Copy)]
enum Constant {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// The bits of an f32, which no operator takes.
    Single(u32),
}

/// The bits of the least number.
const LEAST: u64 = 1 << 63;

use Constant::{Float, Signed, Single, Unsigned};

/// The operators between two values, those that bind least first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser<'_> {
    /// A number, or what operators make of numbers.
    pub(super) fn constant(&mut self) -> Parsed<Operand> {
        let is_negated = self.peek() == Some(Token::Mark('-'));
        Ok(match self.choice()? {
            Signed(value) => Operand::Integer(value.into()),
            // As compilers write the least number of 64 bits.
            Unsigned(LEAST) if is_negated => Operand::Integer(i64::MIN.into()),
            Unsigned(value) => Operand::Integer(value.into()),
            Float(value) => Operand::Double(value.to_bits()),
            Single(bits) => Operand::Single(bits),
        })
    }

    /// The value of an expression, which may choose between two others.
    fn choice(&mut self) -> Parsed<Constant> {
        let value = self.binary(0)?;
        let line = self.line();
        if !self.take_mark('?') {
            return Ok(value);
        }
        let is_true = self.at_line(line, value.is_true())?;
        let first = self.within(Self::choice)?;
        self.expect_mark(':')?;
        let second = self.within(Self::choice)?;
        match (first, second) {
            (Signed(_) | Unsigned(_), Signed(_) | Unsigned(_)) => {
                Ok(if is_true { first } else { second })
            }
            _ => self.at_line(line, Err("`?` chooses between integers")),
        }
    }

    /// An expression whose operators are of this level or of one that binds more.
    fn binary(&mut self, level: usize) -> Parsed<Constant> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut value = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|it| self.is_operator(it)) {
            let line = self.line();
            self.place += operator.len();
            let right = self.binary(level + 1)?;
            value = self.at_line(line, value.combined(operator, right))?;
        }
        Ok(value)
    }

    /// Whether the operator comes next, without blanks in it, and not the beginning of a longer one.
    fn is_operator(&self, operator: &str) -> bool {
        let mark = |distance: usize| match self.tokens.get(self.place + distance) {
            Some(it) => match it.token {
                Token::Mark(mark) => Some((mark, it.line, it.column)),
                _ => None,
            },
            None => None,
        };
        let Some((_, line, column)) = mark(0) else {
            return false;
        };
        let is_at = |distance: usize, expected: char| {
            mark(distance) == Some((expected, line, column + distance as u32))
        };
        let is_here = operator.chars().enumerate().all(|(i, it)| is_at(i, it));
        let longer = match operator {
            "|" | "&" => operator.chars().next(),
            _ => None,
        };
        is_here && !longer.is_some_and(|it| is_at(1, it))
    }

    /// Whether the token after the next one is an operator between two values.
    pub(super) fn is_before_operator(&self) -> bool {
        let marks = "|&^=!<>+-*/%?";
        matches!(self.peek_at(1), Some(Token::Mark(mark)) if marks.contains(mark))
    }

    fn unary(&mut self) -> Parsed<Constant> {
        let line = self.line();
        let operator = match self.peek() {
            Some(Token::Mark(mark @ ('+' | '-' | '!' | '~'))) => mark,
            Some(Token::Mark('(')) => {
                self.place += 1;
                return self.bracketed();
            }
            _ => return self.literal(),
        };
        self.place += 1;
        let value = self.within(Self::unary)?;
        self.at_line(line, value.after(operator))
    }

    /// What follows a `(`: an expression, or the type that an integer becomes.
    fn bracketed(&mut self) -> Parsed<Constant> {
        let line = self.line();
        let Some(of) = self.take_known(Type::of_text) else {
            let value = self.within(Self::choice)?;
            self.expect_mark(')')?;
            return Ok(value);
        };
        self.expect_mark(')')?;
        let value = self.within(Self::unary)?;
        self.at_line(
            line,
            match (of, value) {
                (Type::S64, Signed(_)) | (Type::U64, Unsigned(_)) => Ok(value),
                (Type::S64, Unsigned(value)) => Ok(Signed(value as i64)),
                (Type::U64, Signed(value)) => Ok(Unsigned(value as u64)),
                _ => Err("integers become `.s64` or `.u64`"),
            },
        )
    }

    fn literal(&mut self) -> Parsed<Constant> {
        let number = match self.peek() {
            Some(Token::Integer(value)) => i64::try_from(value).map_or(Unsigned(value), Signed),
            Some(Token::Unsigned(value)) => Unsigned(value),
            Some(Token::Word("WARP_SZ")) => Signed(32),
            Some(Token::Single(bits)) => Single(bits),
            Some(Token::Double(bits)) => Float(f64::from_bits(bits)),
            Some(Token::Decimal(text)) => match text.parse() {
                Ok(value) if is_of_range(text, value) => Float(value),
                _ => return Err((self.line(), ReadErrorKind::Number(shortened(text)))),
            },
            Some(Token::Dot(text)) if text.starts_with(|it: char| it.is_ascii_digit()) => {
                match text.parse::<u64>().map(|_| format!("0.{text}").parse()) {
                    Ok(Ok(value)) if is_of_range(text, value) => Float(value),
                    _ => return Err((self.line(), ReadErrorKind::Number(shortened(text)))),
                }
            }
            _ => return self.unexpected("an operand"),
        };
        self.place += 1;
        Ok(number)
    }

    fn at_line<T>(&self, line: u32, result: Result<T, &'static str>) -> Parsed<T> {
        result.map_err(|error| (line, ReadErrorKind::Constant(error)))
    }
}

/// Whether a decimal number is a finite, normal f64, or 0.
fn is_of_range(text: &str, value: f64) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or(text);
    value.is_normal() || digits.bytes().all(|digit| matches!(digit, b'0' | b'.'))
}

type Combined = Result<Constant, &'static str>;

impl Constant {
    fn is_true(self) -> Result<bool, &'static str> {
        match self {
            Signed(value) => Ok(value != 0),
            Unsigned(value) => Ok(value != 0),
            _ => Err("no integer"),
        }
    }

    /// This value after an operator.
    fn after(self, operator: char) -> Combined {
        match (operator, self) {
            ('!', _) => Ok(truth(!self.is_true()?)),
            ('~', Signed(value)) => Ok(Unsigned(!value as u64)),
            ('~', Unsigned(value)) => Ok(Unsigned(!value)),
            ('-', Signed(value)) => Ok(Signed(value.wrapping_neg())),
            ('-', Unsigned(value)) => Ok(Unsigned(value.wrapping_neg())),
            ('-', Float(value)) => Ok(Float(-value)),
            ('+', Signed(_) | Unsigned(_) | Float(_)) => Ok(self),
            _ => Err("an operator that this number has not"),
        }
    }

    /// This value, an operator and another value.
    fn combined(self, operator: &str, other: Self) -> Combined {
        match (operator, self, other) {
            ("||", ..) => Ok(truth(self.is_true()? | other.is_true()?)),
            ("&&", ..) => Ok(truth(self.is_true()? & other.is_true()?)),
            ("<<" | ">>", _, Signed(by)) => self.shifted(operator, by as u32),
            ("<<" | ">>", _, Unsigned(by)) => self.shifted(operator, by as u32),
            (_, Float(a), Float(b)) => of_floats(operator, a, b),
            ("%", Signed(a), Signed(b)) => of_unsigned(operator, a as u64, b as u64),
            (_, Signed(a), Signed(b)) => of_signed(operator, a, b),
            (_, Signed(a), Unsigned(b)) => of_unsigned(operator, a as u64, b),
            (_, Unsigned(a), Signed(b)) => of_unsigned(operator, a, b as u64),
            (_, Unsigned(a), Unsigned(b)) => of_unsigned(operator, a, b),
            _ => Err("an operator between numbers of two kinds"),
        }
    }

    /// By the number of bits that the shift's last six bits say.
    fn shifted(self, operator: &str, by: u32) -> Combined {
        match (operator, self) {
            ("<<", Signed(value)) => Ok(Signed(value.wrapping_shl(by))),
            ("<<", Unsigned(value)) => Ok(Unsigned(value.wrapping_shl(by))),
            (_, Signed(value)) => Ok(Signed(value.wrapping_shr(by))),
            (_, Unsigned(value)) => Ok(Unsigned(value.wrapping_shr(by))),
            _ => Err("a shift of no integer"),
        }
    }
}

fn truth(value: bool) -> Constant {
    Signed(value.into())
}

const DIVISION_BY_ZERO: &str = "a division by 0";

/// The operators that integers of two kinds have.
macro_rules! of_integers {
    ($name:ident, $integer:ty, $kind:ident) => {
        fn $name(operator: &str, a: $integer, b: $integer) -> Combined {
            Ok(match operator {
                "+" => $kind(a.wrapping_add(b)),
                "-" => $kind(a.wrapping_sub(b)),
                "*" => $kind(a.wrapping_mul(b)),
                "/" | "%" if b == 0 => return Err(DIVISION_BY_ZERO),
                "/" => $kind(a.wrapping_div(b)),
                "%" => $kind(a.wrapping_rem(b)),
                "&" => $kind(a & b),
                "|" => $kind(a | b),
                "^" => $kind(a ^ b),
                _ => truth(compared(operator, a, b)),
            })
        }
    };
}

of_integers!(of_signed, i64, Signed);
of_integers!(of_unsigned, u64, Unsigned);

fn of_floats(operator: &str, a: f64, b: f64) -> Combined {
    Ok(match operator {
        "+" => Float(a + b),
        "-" => Float(a - b),
        "*" => Float(a * b),
        "/" if b == 0.0 => return Err(DIVISION_BY_ZERO),
        "/" => Float(a / b),
        "%" | "&" | "|" | "^" => return Err("an operator of integers between others"),
        _ => truth(compared(operator, a, b)),
    })
}

fn compared<T: PartialOrd>(operator: &str, a: T, b: T) -> bool {
    match operator {
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        "==" => a == b,
        _ => a != b,
    }
}
