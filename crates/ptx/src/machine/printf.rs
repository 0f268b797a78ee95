//! Conversions of `printf` as texts (ISO C, 7.23.6.1).

use std::iter::Peekable;
use std::str::Chars;

/// The largest width and precision: no f64 has more digits after its point.
const MOST_DIGITS: usize = 1100;

/// A conversion of a format: `%-08.3llx`.
#[derive(Debug)]
pub struct Conversion {
    flags: String,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer.
    pub bytes: usize,
    pub kind: char,
}

impl Conversion {
    /// Reads what follows a `%`. `star` returns the number for a `*`.
    pub fn read(rest: &mut Peekable<Chars<'_>>, mut star: impl FnMut() -> i32) -> Self {
        let is_flag = |it: &char| "-+ #0".contains(*it);
        let mut flags = String::new();
        while let Some(flag) = rest.next_if(is_flag) {
            flags.push(flag);
        }
        let width = number(rest, &mut star).unwrap_or(0);
        if width < 0 {
            flags.push('-');
        }
        let precision = rest
            .next_if_eq(&'.')
            .map(|_| number(rest, &mut star).unwrap_or(0));
        let mut bytes = 4;
        while let Some(size) = rest.next_if(|it| "hlzjt".contains(*it)) {
            bytes = match (size, bytes) {
                ('h', 2) => 1,
                ('h', _) => 2,
                _ => 8,
            };
        }
        let most = |digits: u64| digits.min(MOST_DIGITS as u64) as usize;
        Self {
            flags,
            width: most(width.unsigned_abs()),
            // A negative precision is none.
            precision: precision.and_then(|it| u64::try_from(it).ok()).map(most),
            bytes,
            kind: rest.next().unwrap_or_default(),
        }
    }

    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// An integer; the conversion takes its lowest bits.
    pub fn integer(&self, word: u64) -> String {
        let unused = 64 - 8 * self.bytes as u32;
        let (unsigned, signed) = (word << unused >> unused, (word << unused) as i64 >> unused);
        let is_signed = matches!(self.kind, 'd' | 'i');
        let mut digits = match self.kind {
            'x' => format!("{unsigned:x}"),
            'X' => format!("{unsigned:X}"),
            'o' => format!("{unsigned:o}"),
            _ if is_signed => signed.unsigned_abs().to_string(),
            _ => unsigned.to_string(),
        };
        if unsigned == 0 && self.precision == Some(0) {
            digits.clear();
        }
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
        let prefix = match self.kind {
            'x' if self.has('#') && unsigned != 0 => "0x",
            'X' if self.has('#') && unsigned != 0 => "0X",
            'o' if self.has('#') && !digits.starts_with('0') => "0",
            _ if is_signed => self.sign(signed < 0),
            _ => "",
        };
        self.number(prefix, &digits, self.precision.is_none())
    }

    pub fn float(&self, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative());
        let digits = match self.kind.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            'e' => exponential(value.abs(), self.precision.unwrap_or(6)),
            'g' => self.shortest(value.abs()),
            'a' => self.hexadecimal(value.abs()),
            _ => format!("{:.*}", self.precision.unwrap_or(6), value.abs()),
        };
        let (sign, digits) = match digits.strip_prefix("0x") {
            Some(digits) => (format!("{sign}0x"), digits.to_owned()),
            None => (sign.to_owned(), digits),
        };
        let text = self.number(&sign, &digits, value.is_finite());
        match self.kind.is_ascii_uppercase() {
            true => text.to_ascii_uppercase(),
            false => text,
        }
    }

    /// A text. The precision is the most characters that are shown.
    pub fn text(&self, text: &str) -> String {
        let shown = match self.kind {
            's' => text
                .chars()
                .take(self.precision.unwrap_or(usize::MAX))
                .collect(),
            _ => text.to_owned(),
        };
        self.number("", &shown, false)
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match is_negative {
            true => "-",
            false if self.has('+') => "+",
            false if self.has(' ') => " ",
            false => "",
        }
    }

    /// The style of `%e` or `%f`, by the exponent after rounding, without the zeros at the end.
    fn shortest(&self, value: f64) -> String {
        let significant = self.precision.unwrap_or(6).max(1);
        let text = exponential(value, significant - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or_default();
        if exponent < -4 || exponent >= significant as i64 {
            return format!(
                "{}e{}",
                self.without_zeros(digits),
                &text[digits.len() + 1..]
            );
        }
        let places = (significant as i64 - 1 - exponent) as usize;
        self.without_zeros(&format!("{value:.places$}")).to_owned()
    }

    fn without_zeros<'a>(&self, digits: &'a str) -> &'a str {
        match digits.contains('.') && !self.has('#') {
            true => digits.trim_end_matches('0').trim_end_matches('.'),
            false => digits,
        }
    }

    /// `0x1.8p+1`: the fraction's digits without zeros at the end, or as many as the precision says.
    fn hexadecimal(&self, value: f64) -> String {
        const FRACTION_BITS: u32 = 52;
        let bits = value.to_bits();
        let (biased, mut fraction) = (
            (bits >> FRACTION_BITS) as i64,
            bits & ((1 << FRACTION_BITS) - 1),
        );
        let exponent = match biased {
            _ if value == 0.0 => 0,
            0 => -1022,
            _ => biased - 1023,
        };
        fraction |= u64::from(biased > 0) << FRACTION_BITS;
        if let Some(digits) = self.precision.filter(|digits| *digits < 13) {
            // To the nearest, ties to even.
            let unit = 1 << (FRACTION_BITS - 4 * digits as u32);
            let rest = fraction % unit;
            fraction -= rest;
            let is_odd = fraction / unit % 2 == 1;
            fraction += if rest > unit / 2 || (rest == unit / 2 && is_odd) {
                unit
            } else {
                0
            };
        }
        let whole = fraction >> FRACTION_BITS;
        let digits = format!("{:013x}", fraction & ((1 << FRACTION_BITS) - 1));
        let digits = match self.precision {
            Some(most) => format!("{digits:0<most$}")[..most].to_owned(),
            None => digits.trim_end_matches('0').to_owned(),
        };
        let point = if digits.is_empty() { "" } else { "." };
        format!("0x{whole}{point}{digits}p{exponent:+}")
    }

    /// A prefix and digits, as wide as the conversion says.
    fn number(&self, prefix: &str, digits: &str, may_have_zeros: bool) -> String {
        let length = prefix.len() + digits.chars().count();
        let missing = self.width.saturating_sub(length);
        if self.has('-') {
            return format!("{prefix}{digits}{}", " ".repeat(missing));
        }
        match self.has('0') && may_have_zeros {
            true => format!("{prefix}{}{digits}", "0".repeat(missing)),
            false => format!("{}{prefix}{digits}", " ".repeat(missing)),
        }
    }
}

/// A width or a precision, if there is one.
fn number(rest: &mut Peekable<Chars<'_>>, star: &mut impl FnMut() -> i32) -> Option<i64> {
    if rest.next_if_eq(&'*').is_some() {
        return Some(star().into());
    }
    let mut number: Option<i64> = None;
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        let digit = digit.to_digit(10).unwrap_or_default();
        number = Some(
            number
                .unwrap_or(0)
                .saturating_mul(10)
                .saturating_add(digit.into()),
        );
    }
    number
}

/// With an exponent of at least two digits, as C has it.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &str, stars: &[i32]) -> Conversion {
        let mut stars = stars.iter().copied();
        let mut rest = format[1..].chars().peekable();
        Conversion::read(&mut rest, || stars.next().unwrap())
    }

    /// As glibc has them.
    #[test]
    fn integers_are_those_of_c() {
        for (format, value, expected) in [
            ("%d", -5_i64, "-5"),
            ("%.3d", 5, "005"),
            ("%8.3d", -5, "    -005"),
            ("%08.3d", 5, "     005"),
            ("%+05d", 5, "+0005"),
            ("%-5d|", 5, "5    "),
            ("%.0d", 0, ""),
            ("%x", -1, "ffffffff"),
            ("%#010x", 255, "0x000000ff"),
            ("%#X", 255, "0XFF"),
            ("%#x", 0, "0"),
            ("%#o", 8, "010"),
            ("%hd", 70_000, "4464"),
            ("%hhu", 511, "255"),
            ("%lld", i64::MIN, "-9223372036854775808"),
            ("%lu", -1, "18446744073709551615"),
        ] {
            assert_eq!(
                read(format, &[]).integer(value as u64),
                expected,
                "{format}"
            );
        }
        assert_eq!(read("%*d", &[-4]).integer(5), "5   ");
        assert_eq!(read("%*.*d", &[4, 2]).integer(5), "  05");
        assert_eq!(read("%.*d", &[-2]).integer(0), "0");
        assert_eq!(
            read("%99999999999999999999d", &[]).integer(5).len(),
            MOST_DIGITS
        );
    }

    #[test]
    fn floats_are_those_of_c() {
        for (format, value, expected) in [
            ("%f", 1.5, "1.500000"),
            ("%08.2f", -1.5, "-0001.50"),
            ("%e", 1.0, "1.000000e+00"),
            ("%.1E", 1e-300, "1.0E-300"),
            ("%g", 1e10, "1e+10"),
            ("%g", 123_456_789.0, "1.23457e+08"),
            ("%g", 999_999.5, "1e+06"),
            ("%g", 1e-5, "1e-05"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.0, "0"),
            ("%G", 1e-10, "1E-10"),
            ("%#g", 1.0, "1.00000"),
            ("%05f", f64::NAN, "  nan"),
            ("%F", f64::NEG_INFINITY, "-INF"),
            ("%a", 3.0, "0x1.8p+1"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.0, "0x0p+0"),
            ("%A", 0.1, "0X1.999999999999AP-4"),
            ("%.1a", 1.96875, "0x2.0p+0"),
            ("%.3a", 1.0, "0x1.000p+0"),
            ("%012a", -1.0, "-0x000001p+0"),
            ("%a", 5e-324, "0x0.0000000000001p-1022"),
        ] {
            assert_eq!(read(format, &[]).float(value), expected, "{format}");
        }
    }

    #[test]
    fn texts_are_those_of_c() {
        assert_eq!(read("%6s", &[]).text("abc"), "   abc");
        assert_eq!(read("%-6.2s", &[]).text("abc"), "ab    ");
        assert_eq!(read("%06s", &[]).text("abc"), "   abc");
    }
}
