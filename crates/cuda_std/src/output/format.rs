//! Formats a line as `println!` does.

use super::value::{Kind, Value};

/// Replaces each `{}` of `text` by the next value, formatted as the braces specify.
#[must_use]
pub fn line(text: &str, values: &[Value]) -> String {
    let mut line = String::with_capacity(text.len());
    let mut values = values.iter();
    let mut rest = text;
    while let Some(brace) = rest.find(['{', '}']) {
        line.push_str(&rest[..brace]);
        let marked = &rest[brace..];
        if marked.starts_with("{{") || marked.starts_with("}}") {
            line.push_str(&marked[..1]);
            rest = &marked[2..];
            continue;
        }
        // In a truncated text the brace may not be closed.
        let end = marked.find('}').unwrap_or(marked.len() - 1);
        let spec = Spec::parse(marked[1..end.max(1)].trim_start_matches(':'));
        match values.next() {
            Some(value) => line.push_str(&spec.format(*value)),
            None => line.push_str(&marked[..=end]),
        }
        rest = &marked[end + 1..];
    }
    line + rest
}

/// A format specification, such as the part after the colon in `{:>+#08.3x}`.
#[derive(Debug, Default)]
struct Spec {
    fill: Option<char>,
    alignment: Option<char>,
    plus: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    /// `?`, `x`, `X`, `b`, `o`, `e` or `E`.
    form: Option<char>,
}

impl Spec {
    fn parse(text: &str) -> Self {
        let mut spec = Self::default();
        let mut rest = text;
        let is_alignment = |it: &char| matches!(it, '<' | '^' | '>');
        let mut start = text.chars();
        let (first, second) = (start.next(), start.next());
        if let Some(alignment) = second.filter(is_alignment) {
            (spec.fill, spec.alignment) = (first, Some(alignment));
            rest = start.as_str();
        } else if let Some(alignment) = first.filter(is_alignment) {
            spec.alignment = Some(alignment);
            rest = &rest[1..];
        }
        let mut flag = |mark: char| {
            let found = rest.strip_prefix(mark);
            rest = found.unwrap_or(rest);
            found.is_some()
        };
        spec.plus = flag('+');
        // The standard library takes it, too, and it changes nothing.
        let _minus = flag('-');
        spec.alternate = flag('#');
        spec.zeros = flag('0');
        spec.width = number(&mut rest).unwrap_or(0);
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
            spec.precision = number(&mut rest);
        }
        spec.form = rest.chars().next();
        spec
    }

    fn format(&self, value: Value) -> String {
        let bits = value.bits;
        let body = match value.kind {
            Kind::Bool => return self.text((bits != 0).to_string()),
            Kind::Char => return self.character(bits),
            Kind::U8 => self.integer(bits as u8),
            Kind::U16 => self.integer(bits as u16),
            Kind::U32 => self.integer(bits as u32),
            Kind::U64 => self.integer(bits),
            Kind::I8 => self.integer(bits as i8),
            Kind::I16 => self.integer(bits as i16),
            Kind::I32 => self.integer(bits as i32),
            Kind::I64 => self.integer(bits as i64),
            Kind::F32 => self.float(f32::from_bits(bits as u32)),
            Kind::F64 => self.float(f64::from_bits(bits)),
        };
        self.number(body)
    }

    fn character(&self, bits: u64) -> String {
        let character = char::from_u32(bits as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        match self.form {
            // Never padded.
            Some('?') => format!("{character:?}"),
            _ => self.text(character.to_string()),
        }
    }

    /// A text, cut off after as many characters as the precision has.
    fn text(&self, text: String) -> String {
        let shown = text.chars().take(self.precision.unwrap_or(usize::MAX));
        self.padded(shown.collect(), '<')
    }

    fn integer<T>(&self, value: T) -> String
    where
        T: std::fmt::Display
            + std::fmt::LowerHex
            + std::fmt::UpperHex
            + std::fmt::Binary
            + std::fmt::Octal
            + std::fmt::LowerExp
            + std::fmt::UpperExp,
    {
        match (self.form, self.alternate) {
            (Some('e' | 'E'), _) => self.exponential(value),
            (Some('x'), false) => format!("{value:x}"),
            (Some('x'), true) => format!("{value:#x}"),
            (Some('X'), false) => format!("{value:X}"),
            (Some('X'), true) => format!("{value:#X}"),
            (Some('b'), false) => format!("{value:b}"),
            (Some('b'), true) => format!("{value:#b}"),
            (Some('o'), false) => format!("{value:o}"),
            (Some('o'), true) => format!("{value:#o}"),
            _ => value.to_string(),
        }
    }

    /// A number with an exponent, whose letter is the form's.
    fn exponential<T: std::fmt::LowerExp + std::fmt::UpperExp>(&self, value: T) -> String {
        match (self.form, self.precision) {
            (Some('E'), None) => format!("{value:E}"),
            (Some('E'), Some(digits)) => format!("{value:.digits$E}"),
            (_, None) => format!("{value:e}"),
            (_, Some(digits)) => format!("{value:.digits$e}"),
        }
    }

    fn float<T>(&self, value: T) -> String
    where
        T: std::fmt::Display + std::fmt::Debug + std::fmt::LowerExp + std::fmt::UpperExp,
    {
        match (self.form, self.precision) {
            (Some('e' | 'E'), _) => self.exponential(value),
            (Some('?'), None) => format!("{value:?}"),
            (_, Some(digits)) => format!("{value:.digits$}"),
            (_, None) => value.to_string(),
        }
    }

    /// Pads a number, with its sign and leading zeros.
    fn number(&self, body: String) -> String {
        let has_sign = body.starts_with('-') || body == "NaN";
        let sign = if self.plus && !has_sign { "+" } else { "" };
        let text = format!("{sign}{body}");
        if !self.zeros {
            return self.padded(text, '>');
        }
        let missing = self.width.saturating_sub(text.chars().count());
        let is_prefixed = self.alternate && matches!(self.form, Some('x' | 'X' | 'b' | 'o'));
        let prefix = if is_prefixed { 2 } else { 0 };
        let digits = usize::from(text.starts_with(['+', '-'])) + prefix;
        let (start, end) = text.split_at(digits);
        format!("{start}{}{end}", "0".repeat(missing))
    }

    fn padded(&self, text: String, alignment: char) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        let left = match self.alignment.unwrap_or(alignment) {
            '<' => 0,
            '^' => missing / 2,
            _ => missing,
        };
        let fill = |count: usize| self.fill.unwrap_or(' ').to_string().repeat(count);
        fill(left) + &text + &fill(missing - left)
    }
}

/// Reads a decimal number, if there is one.
fn number(rest: &mut &str) -> Option<usize> {
    let end = rest.find(|it: char| !it.is_ascii_digit());
    let (digits, behind) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = behind;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::Printable;
    use super::line;

    macro_rules! check {
        ($($text:literal: $($value:expr),+;)*) => {$($(
            assert_eq!(line($text, &[$value.value()]), format!($text, $value), "{}", $text);
        )+)*};
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        check! {
            "<{:6.2}>": true, false, 'x', 1.005_f64, 7_u8;
            "<{:.0}>": true, 'x', 2.5_f32;
            "<{:*^9?}>": true, 'x', '"', 2.5_f32, 7_u8;
            "<{:9.3e}>": 12_345_u32, -99_999_i64, 0_u8, u64::MAX, 1.0_f32, f64::NAN;
            "<{:.2E}>": 12_345_u32, 1e-300_f64;
            "{}": 7_u8, -7_i8, 300_u16, -300_i16, u32::MAX, i32::MIN, u64::MAX, i64::MIN, 5_usize,
                -5_isize, 0.1_f32, 0.1_f64, -0.0_f32, 1e30_f32, 1e-9_f64, true, 'x', f32::INFINITY,
                f64::NAN;
            "{:?}": 7_u8, -7_i64, 1.0_f32, 1e30_f32, 1e-9_f64, true, 'x', '\n';
            "<{:6}>": 7_u8, -7_i64, 1.5_f32, true, 'x', f32::NEG_INFINITY;
            "<{:<6}>": 7_u8, -7_i64, 1.5_f32, true;
            "<{:*^7}>": 7_u8, -7_i64, 1.5_f32, false, 'x';
            "<{:->6}>": 7_u8, 1.5_f64, true;
            "<{:06}>": 7_u8, -7_i64, 1.5_f32, -1.5_f64, f32::NAN, f64::NEG_INFINITY;
            "<{:+}>": 7_u8, -7_i64, 1.5_f32, 0.0_f64, f32::NAN, f32::INFINITY;
            "<{:+07.2}>": 1.555_f32, -1.555_f64, 12345678.0_f32;
            "<{:.3}>": 0.12345_f32, 2.0_f64, 7_u32;
            "<{:9.1}>": 0.25_f32, -0.35_f64;
            "{:x} ": 255_u8, -1_i8, 1_u64, -1_i32;
            "{:#010x}": 255_u8, 1_u64, -1_i16;
            "{:#X}": 255_u8, -1_i64;
            "{:08b}": 5_u8, -1_i8;
            "{:#b}": 5_u32;
            "{:o}": 8_u16;
            "{:e}": 1500_u32, 1500.0_f32, 1e-300_f64;
            "{:.2E}": 1500.0_f32;
            "{{{}}}": 3_u8;
            "{:-5}|": 7_u32, 1.5_f32;
            "{:*>-08.2}": 1.5_f64;
        }
    }

    #[test]
    fn several_values_have_their_places() {
        let values = [1_u32.value(), 2.5_f32.value(), true.value()];
        let found = line("{} of {:.2}: {}", &values);
        assert_eq!(found, format!("{} of {:.2}: {}", 1, 2.5, true));
    }

    #[test]
    fn a_text_that_was_cut_is_printed_as_far_as_it_goes() {
        assert_eq!(line("a {} {", &[1_u32.value()]), "a 1 {");
        assert_eq!(line("a {:3", &[]), "a {:3");
    }
}
