//! `printf` and `assert` of CUDA C++.

use super::printf::Conversion;
use super::thread::Thread;
use crate::decode::AddressSpace;
use simt::{AccessKind, DefectKind};
use std::ptr::with_exposed_provenance;

/// The longest text that is read, in bytes.
const MOST: u64 = 1 << 16;

/// The most values that are printed; further conversions are printed verbatim (CUDA C++ Programming Guide, "Formatted
/// Output").
const MOST_VALUES: u32 = 32;

impl Thread<'_> {
    /// Prints; `format`, `values` and `result` are places in local memory.
    pub fn print_line(&mut self, format: u64, values: u64, result: u64) {
        let format = self.text(self.local_word(format));
        let mut values = Values {
            thread: self,
            next: self.local_word(values),
        };
        let (text, count) = formatted(&format, &mut values);
        let host = self.read_host(AddressSpace::Local, result, 4);
        // SAFETY: the place is in local memory, which no reference refers to.
        unsafe { simt::store_relaxed(std::ptr::with_exposed_provenance_mut(host), count) };
        simt::print(|| text);
    }

    pub fn assert_fail(&self, message: u64, file: u64, line: u64) -> ! {
        let (message, file) = (
            self.text(self.local_word(message)),
            self.text(self.local_word(file)),
        );
        let host = self.read_host(AddressSpace::Local, line, 4);
        // SAFETY: the bytes are in local memory.
        let line: u32 = unsafe { simt::load_relaxed(with_exposed_provenance(host)) };
        simt::fail(
            DefectKind::Panic,
            format!("assertion `{message}` failed at {file}:{line}"),
        )
    }

    /// A word at a place in local memory.
    fn local_word(&self, place: u64) -> u64 {
        let host = self.read_host(AddressSpace::Local, place, 8);
        // SAFETY: the bytes are in local memory.
        unsafe { simt::load_relaxed(with_exposed_provenance(host)) }
    }

    /// The address on the host of bytes that are read, after their check.
    fn read_host(&self, space: AddressSpace, address: u64, bytes: usize) -> usize {
        self.checked_host(space, address, bytes, AccessKind::Read)
    }

    /// The text at a generic address, up to its zero.
    fn text(&self, address: u64) -> String {
        let mut bytes = Vec::new();
        for place in 0..MOST {
            let host = self.read_host(AddressSpace::Generic, address.wrapping_add(place), 1);
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
            .read_host(AddressSpace::Generic, address, bytes as usize);
        // SAFETY: the bytes were checked.
        unsafe {
            match bytes {
                4 => simt::load_relaxed::<u32>(with_exposed_provenance(host)).into(),
                _ => simt::load_relaxed::<u64>(with_exposed_provenance(host)),
            }
        }
    }
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
        let it = Conversion::read(&mut rest, || values.word(4) as i32);
        if it.kind == '%' {
            text.push('%');
            continue;
        }
        count += 1;
        text.push_str(&value(&it, values));
    }
    (text, count)
}

fn value(it: &Conversion, values: &mut Values<'_, '_>) -> String {
    match it.kind {
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' => {
            let bytes = if it.bytes == 8 { 8 } else { 4 };
            it.integer(values.word(bytes))
        }
        'c' => it.text(&char::from(values.word(4) as u8).to_string()),
        'p' => it.text(&format!("{:#x}", values.word(8))),
        's' => {
            let address = values.word(8);
            it.text(&values.thread.text(address))
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => it.float(f64::from_bits(values.word(8))),
        other => format!("%{other}"),
    }
}
