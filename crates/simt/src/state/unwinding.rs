//! Predicts whether a panic at this place would be caught or end the process.
//!
//! A panic ends the process if it reaches a function that cannot unwind, such as an `extern "C" fn`, or a destructor that
//! runs while the thread is already unwinding. Compilers write both into the exception tables (the language-specific data
//! areas of the Itanium C++ ABI), which this file reads as the standard library's personality function does. For the
//! current call of a function, the tables name a landing pad and an action: cleanup, catch or filter. Functions that
//! cannot unwind have the filter. A call that is missing in the tables cannot unwind, either.

use std::ffi::{c_int, c_void};

/// The action of unwinding at a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    /// Unwinding runs the frame's destructors and continues.
    Pass,
    /// The frame catches it.
    Catch,
    /// The frame ends the process.
    Abort,
}

/// `_URC_NO_REASON` and `_URC_NORMAL_STOP` of the unwinder.
const GO_ON: c_int = 0;
const STOP: c_int = 4;

/// The encodings of pointers in the tables that are used (Linux Standard Base, "DWARF Exception
/// Header Encoding").
const OMITTED: u8 = 0xff;
const ULEB128: u8 = 0x01;

type Context = c_void;

// SAFETY: these functions belong to the unwinder that the standard library links, and have these
// types.
unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(
        trace: extern "C-unwind" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut Context, is_before: *mut c_int) -> usize;
    fn _Unwind_GetLanguageSpecificData(context: *mut Context) -> *const u8;
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
}

/// Whether a panic of the calling function would be caught before it reaches a function that cannot
/// unwind.
#[inline(never)]
pub(crate) fn would_be_caught() -> bool {
    // If the frames end first, no function catches the panic, and the process ends.
    let mut end = Action::Abort;
    // SAFETY: the function has the required type, and gets `end`, which nothing else uses meanwhile.
    unsafe { _Unwind_Backtrace(look_at_frame, (&raw mut end).cast()) };
    end == Action::Catch
}

extern "C-unwind" fn look_at_frame(context: *mut Context, end: *mut c_void) -> c_int {
    let mut is_before = 0;
    // SAFETY: the unwinder gives a valid context, which these functions take; `is_before` is a local that can be
    // written.
    let (address, start, table) = unsafe {
        (
            _Unwind_GetIPInfo(context, &mut is_before),
            _Unwind_GetRegionStart(context),
            _Unwind_GetLanguageSpecificData(context),
        )
    };
    // The return address may already belong to the next call's range.
    let address = if is_before == 0 { address - 1 } else { address };
    if table.is_null() {
        return GO_ON;
    }
    // SAFETY: the table belongs to the function that starts at `start`.
    let action = unsafe { action_at(table, address.wrapping_sub(start)) };
    if action == Action::Pass {
        return GO_ON;
    }
    // SAFETY: the pointer is to a local of `would_be_caught`, which waits for this call.
    unsafe { *end.cast::<Action>() = action };
    STOP
}

/// The action of a function for an exception from the call at `offset` from its start.
///
/// # Safety
///
/// 1. `table` is a language-specific data area that compilers have written, of a function with that
///    offset.
unsafe fn action_at(table: *const u8, offset: usize) -> Action {
    let mut reader = Reader(table);
    // SAFETY: the area is valid: the caller's contract. Each read follows its format: the encodings of the start of
    // landing pads and of types, the length of the list of calls, the calls, and then the list of actions, whose
    // indices count from 1.
    unsafe {
        if reader.byte() != OMITTED {
            // Functions in several parts, which Rust does not have.
            return Action::Pass;
        }
        if reader.byte() != OMITTED {
            reader.unsigned();
        }
        if reader.byte() != ULEB128 {
            return Action::Pass;
        }
        let bytes = reader.unsigned();
        let actions = reader.0.wrapping_add(bytes);
        while reader.0 < actions {
            let (start, length) = (reader.unsigned(), reader.unsigned());
            let (pad, action) = (reader.unsigned(), reader.unsigned());
            if offset < start {
                break;
            }
            if offset - start < length {
                return match (pad, action) {
                    (0, _) | (_, 0) => Action::Pass,
                    _ => match Reader(actions.wrapping_add(action - 1)).signed() {
                        0 => Action::Pass,
                        1.. => Action::Catch,
                        _ => Action::Abort,
                    },
                };
            }
        }
    }
    Action::Abort
}

/// Reads a table, from an address on.
struct Reader(*const u8);

impl Reader {
    /// # Safety
    ///
    /// 1. The byte at the address may be read.
    unsafe fn byte(&mut self) -> u8 {
        // SAFETY: the byte at the address may be read: the caller's contract.
        let byte = unsafe { self.0.read() };
        self.0 = self.0.wrapping_add(1);
        byte
    }

    /// Reads a number of variable length (DWARF 5, section 7.6): its bits, their count, and whether the highest is
    /// set.
    ///
    /// # Safety
    ///
    /// 1. A readable number of this format begins at the address.
    unsafe fn bits(&mut self) -> (u64, u32, bool) {
        let (mut bits, mut count) = (0, 0);
        loop {
            // SAFETY: a readable number begins at the address: the caller's contract. Its last byte
            // has not been read.
            let byte = unsafe { self.byte() };
            bits |= u64::from(byte & 0x7f).checked_shl(count).unwrap_or(0);
            count += 7;
            if byte & 0x80 == 0 {
                return (bits, count, byte & 0x40 != 0);
            }
        }
    }

    /// # Safety
    ///
    /// 1. As for [`bits`](Self::bits).
    unsafe fn unsigned(&mut self) -> usize {
        // SAFETY: the caller's contract is that of `bits`.
        unsafe { self.bits() }.0 as usize
    }

    /// # Safety
    ///
    /// 1. As for [`bits`](Self::bits).
    unsafe fn signed(&mut self) -> i64 {
        // SAFETY: the caller's contract is that of `bits`.
        let (bits, count, is_negative) = unsafe { self.bits() };
        let sign = u64::MAX.checked_shl(count).filter(|_| is_negative);
        (bits | sign.unwrap_or(0)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{UnwindSafe, catch_unwind, resume_unwind};

    /// The result of `would_be_caught` in `action`, which may catch.
    fn asked(action: impl FnOnce(&mut dyn FnMut()) + UnwindSafe) -> Option<bool> {
        let mut answer = None;
        action(&mut || answer = Some(would_be_caught()));
        answer
    }

    #[allow(improper_ctypes_definitions, reason = "only Rust calls it")]
    extern "C" fn cannot_unwind(action: &mut dyn FnMut()) {
        action();
    }

    #[allow(improper_ctypes_definitions, reason = "only Rust calls it")]
    extern "C-unwind" fn can_unwind(action: &mut dyn FnMut()) {
        let dropped = vec![1];
        action();
        drop(dropped);
    }

    struct CallsInDrop<'a>(&'a mut dyn FnMut());

    impl Drop for CallsInDrop<'_> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    #[test]
    fn the_tables_say_where_a_panic_ends() {
        // The harness catches.
        assert_eq!(asked(|ask| ask()), Some(true));
        assert_eq!(asked(|ask| can_unwind(ask)), Some(true));
        assert_eq!(asked(|ask| cannot_unwind(ask)), Some(false));
        assert_eq!(
            asked(|ask| can_unwind(&mut || cannot_unwind(ask))),
            Some(false)
        );
        assert_eq!(
            asked(|ask| cannot_unwind(&mut || can_unwind(ask))),
            Some(false)
        );
        let catches = |ask: &mut dyn FnMut()| {
            let ask = std::panic::AssertUnwindSafe(ask);
            drop(catch_unwind(move || { ask }.0()));
        };
        assert_eq!(asked(|ask| cannot_unwind(&mut || catches(ask))), Some(true));
        assert_eq!(asked(|ask| drop(CallsInDrop(ask))), Some(true));
        let unwinds = asked(|ask| {
            let ask = std::panic::AssertUnwindSafe(ask);
            let result = catch_unwind(move || {
                let _calls = CallsInDrop({ ask }.0);
                resume_unwind(Box::new(0));
            });
            assert!(result.is_err());
        });
        assert_eq!(unwinds, Some(false));
    }

    #[test]
    fn numbers_of_variable_length_are_read() {
        let bytes = [0x02, 0x7e, 0x7f, 0x80, 0x7f, 0xe5, 0x8e, 0x26];
        let mut reader = Reader(bytes.as_ptr());
        // SAFETY: the array holds the numbers one after the other.
        unsafe {
            assert_eq!(reader.signed(), 2);
            assert_eq!(reader.signed(), -2);
            assert_eq!(reader.signed(), -1);
            assert_eq!(reader.signed(), -128);
            assert_eq!(reader.unsigned(), 624_485);
        }
    }
}
