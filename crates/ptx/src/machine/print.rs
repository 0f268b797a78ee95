//! `printf` and `assert` of CUDA C++.

use super::places::Place;
use super::thread::Thread;
use crate::decode::AddressSpace;
use simt::{AccessKind, DefectKind};
use std::fmt::Write as _;
use std::ptr::with_exposed_provenance;

/// The longest text that is read, in bytes.
const MOST: u64 = 1 << 16;

/// The most values that are printed; conversions behind them are printed as they are (CUDA C++ Programming Guide,
/// "Formatted Output").
const MOST_VALUES: u32 = 32;

/// The largest width and precision: no text of an f64 has more digits behind its point.
const MOST_DIGITS: usize = 1100;

impl Thread<'_> {
    /// Prints; `format`, `values` and `result` are places in local memory.
    pub fn print_line(&mut self, format: u64, values: u64, result: u64) {
        let format = self.text(self.local_word(format));
        let mut values = Values {
            thread: self,
            next: self.local_word(values),
        };
        let (text, count) = formatted(&format, &mut values);
        let host = self.host_byte(AddressSpace::Local, result, 4);
        // SAFETY: the place is in local memory, which no reference refers to.
        unsafe { simt::store_relaxed(std::ptr::with_exposed_provenance_mut(host), count) };
        simt::print(|| text);
    }

    pub fn assert_fail(&self, message: u64, file: u64, line: u64) -> ! {
        let (message, file) = (
            self.text(self.local_word(message)),
            self.text(self.local_word(file)),
        );
        let host = self.host_byte(AddressSpace::Local, line, 4);
        // SAFETY: the bytes are in local memory.
        let line: u32 = unsafe { simt::load_relaxed(with_exposed_provenance(host)) };
        simt::fail(
            DefectKind::Panic,
            format!("assertion `{message}` failed at {file}:{line}"),
        )
    }

    /// A word at a place in local memory.
    fn local_word(&self, place: u64) -> u64 {
        let host = self.host_byte(AddressSpace::Local, place, 8);
        // SAFETY: the bytes are in local memory.
        unsafe { simt::load_relaxed(with_exposed_provenance(host)) }
    }

    /// The address on the host of bytes that are read, after their check.
    fn host_byte(&self, space: AddressSpace, address: u64, bytes: usize) -> usize {
        match self.place(space, address, bytes) {
            Place::Parameter(host) | Place::Local(host) => host,
            Place::Device(space, host) => {
                let kind = AccessKind::Read;
                // SAFETY: the contract of `Kernel::body`.
                unsafe { simt::access_at(self.line, space, kind, host, bytes, 0, bytes, bytes) };
                host
            }
        }
    }

    /// The text at a generic address, up to its zero.
    fn text(&self, address: u64) -> String {
        let mut bytes = Vec::new();
        for place in 0..MOST {
            let host = self.host_byte(AddressSpace::Generic, address.wrapping_add(place), 1);
            // SAFETY: the byte was checked.
            match unsafe { simt::load_relaxed::<u8>(with_exposed_provenance(host)) } {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The values to print, each at a multiple of its size.
struct Values<'a, 'b> {
    thread: &'a Thread<'b>,
    /// A generic address.
    next: u64,
}

impl Values<'_, '_> {
    fn word(&mut self, bytes: u64) -> u64 {
        let address = self.next.wrapping_add(bytes - 1) & !(bytes - 1);
        self.next = address.wrapping_add(bytes);
        let host = self
            .thread
            .host_byte(AddressSpace::Generic, address, bytes as usize);
        // SAFETY: the bytes were checked.
        unsafe {
            match bytes {
                4 => simt::load_relaxed::<u32>(with_exposed_provenance(host)).into(),
                _ => simt::load_relaxed::<u64>(with_exposed_provenance(host)),
            }
        }
    }
}

/// A conversion of a format: `%-08.3llx`.
#[derive(Default)]
struct Conversion {
    flags: String,
    width: Option<usize>,
    precision: Option<usize>,
    is_long: bool,
    kind: char,
}

/// The text of a format and its values, and the number of values.
fn formatted(format: &str, values: &mut Values<'_, '_>) -> (String, u32) {
    let (mut text, mut count) = (String::new(), 0);
    let mut rest = format.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '%' || count == MOST_VALUES {
            text.push(character);
            continue;
        }
        let it = conversion(&mut rest, values);
        if it.kind == '%' {
            text.push('%');
            continue;
        }
        count += 1;
        text.push_str(&padded(&it, value(&it, values)));
    }
    (text, count)
}

fn conversion(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    values: &mut Values<'_, '_>,
) -> Conversion {
    let mut it = Conversion::default();
    let mut is_precision = false;
    for character in rest.by_ref() {
        match character {
            '0' if it.width.is_none() && !is_precision => it.flags.push('0'),
            '-' | '+' | ' ' | '#' => it.flags.push(character),
            '0'..='9' | '*' => {
                let place = match is_precision {
                    true => &mut it.precision,
                    false => &mut it.width,
                };
                *place = Some(match character.to_digit(10) {
                    Some(digit) => place.unwrap_or(0) * 10 + digit as usize,
                    None => values.word(4) as usize,
                });
                *place = place.map(|it| it.min(MOST_DIGITS));
            }
            '.' => {
                is_precision = true;
                it.precision = Some(0);
            }
            'l' | 'z' | 'j' | 't' => it.is_long = true,
            'h' => {}
            kind => {
                it.kind = kind;
                break;
            }
        }
    }
    it
}

fn value(it: &Conversion, values: &mut Values<'_, '_>) -> String {
    let mut integer = || values.word(if it.is_long { 8 } else { 4 });
    match it.kind {
        'd' | 'i' => {
            let word = integer();
            let value = match it.is_long {
                true => word as i64,
                false => i64::from(word as i32),
            };
            signed(it, value < 0, value.unsigned_abs().to_string())
        }
        'u' => integer().to_string(),
        'x' => format!("{}{:x}", prefix(it, "0x"), integer()),
        'X' => format!("{}{:X}", prefix(it, "0X"), integer()),
        'o' => format!("{:o}", integer()),
        'c' => char::from(integer() as u8).to_string(),
        'p' => format!("{:#x}", values.word(8)),
        's' => {
            let address = values.word(8);
            let text = values.thread.text(address);
            match it.precision {
                Some(most) => text.chars().take(most).collect(),
                None => text,
            }
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' => {
            let value = f64::from_bits(values.word(8));
            signed(it, value.is_sign_negative(), float(it, value.abs()))
        }
        other => format!("%{other}"),
    }
}

fn prefix(it: &Conversion, text: &'static str) -> &'static str {
    if it.flags.contains('#') { text } else { "" }
}

fn signed(it: &Conversion, is_negative: bool, digits: String) -> String {
    let sign = match is_negative {
        true => "-",
        false if it.flags.contains('+') => "+",
        false if it.flags.contains(' ') => " ",
        false => "",
    };
    format!("{sign}{digits}")
}

fn float(it: &Conversion, value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan" } else { "inf" }.to_owned();
    }
    let precision = it.precision.unwrap_or(6);
    match it.kind {
        'e' | 'E' => exponential(value, precision),
        'g' | 'G' => {
            let significant = precision.max(1);
            let exponent = match value == 0.0 {
                true => 0,
                false => value.log10().floor() as i64,
            };
            let text = match exponent < -4 || exponent >= significant as i64 {
                true => exponential(value, significant - 1),
                false => format!("{value:.*}", (significant as i64 - 1 - exponent) as usize),
            };
            match text.contains('.') && !text.contains('e') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => format!("{value:.precision$}"),
    }
}

/// With an exponent of at least two digits, as C has it.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let mut shown = digits.to_owned();
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(shown, "e{sign}{:02}", exponent.abs());
    shown
}

fn padded(it: &Conversion, text: String) -> String {
    let missing = it.width.unwrap_or(0).saturating_sub(text.chars().count());
    let fill = |character: &str| character.repeat(missing);
    if it.flags.contains('-') {
        return text + &fill(" ");
    }
    let has_zeros = it.flags.contains('0') && !matches!(it.kind, 's' | 'c');
    match has_zeros {
        true => {
            let sign = usize::from(text.starts_with(['-', '+', ' ']));
            format!("{}{}{}", &text[..sign], fill("0"), &text[sign..])
        }
        false => fill(" ") + &text,
    }
}
