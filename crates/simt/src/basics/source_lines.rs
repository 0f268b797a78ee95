//! Lines of code that is not Rust, such as PTX, as places that findings and counters name.
//!
//! The simulator knows a line by the address of its [`Location`], which it keeps in four bytes. Such a value can only
//! be copied, not made. So each of these lines is a copy of one, at an address of its own in this program, and a table
//! has the file and the line that it stands for.

use super::defect::SourceLocation;
use std::borrow::Cow;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The most lines that exist at a time. Pages that are not used take no memory.
const MOST: usize = 1 << 16;

type Slot = UnsafeCell<MaybeUninit<Location<'static>>>;

/// Where the copies are.
struct Slots([Slot; MOST]);

// SAFETY: a slot is written once, under the lock of `TABLE`, before a reference to it exists.
unsafe impl Sync for Slots {}

static SLOTS: Slots = Slots([const { UnsafeCell::new(MaybeUninit::uninit()) }; MOST]);

static TABLE: RwLock<Table> = RwLock::new(Table {
    lines: Vec::new(),
    free: Vec::new(),
});

/// The file, the line and the column that a slot stands for.
type Written = (Arc<str>, u32, u32);

/// The lines that the slots stand for.
struct Table {
    /// The file, the line and the column of each slot that has been written.
    lines: Vec<Written>,
    /// Slots that are not in use.
    free: Vec<usize>,
}

/// A line of code that is not Rust.
#[derive(Clone, Copy, Debug)]
pub struct SourceLine(pub(crate) &'static Location<'static>);

/// Lines of one file. They are valid while this value lives; later, they may stand for other lines.
///
/// ```
/// use simt::{Body, DefectKind, Launch, Options, SourceLines};
///
/// let lines = SourceLines::new("kernel.ptx", &[(7, 1)]);
/// let line = lines.lines()[0];
/// let options = Options::default();
/// let launch = Launch::new("trap", 1, 1, &options);
/// let body = Body::new(move || {
///     simt::execute_at(line);
///     simt::fail(DefectKind::Panic, "the kernel traps".to_owned());
/// });
/// let defect = simt::run(&launch, &body).unwrap_err();
/// assert_eq!(defect.location.unwrap().to_string(), "kernel.ptx:7:1");
/// ```
#[derive(Debug)]
pub struct SourceLines {
    lines: Vec<SourceLine>,
    slots: Vec<usize>,
}

impl SourceLines {
    /// These lines of the file `file`, each with a column, from 1.
    ///
    /// Two columns of a line count as two lines. A program can have 65536 of them at a time. Further ones stand for the
    /// line of this call.
    #[track_caller]
    #[must_use]
    pub fn new(file: &str, places: &[(u32, u32)]) -> Self {
        let (file, caller) = (Arc::from(file), Location::caller());
        let mut table = lock_to_change();
        let mut slots = Vec::new();
        let lines = places.iter().map(|&(line, column)| {
            let Some(slot) = table.slot((Arc::clone(&file), line, column), caller) else {
                return SourceLine(caller);
            };
            slots.push(slot);
            // SAFETY: `Table::slot` has written it, now or earlier, and nothing writes it again.
            SourceLine(unsafe { (*SLOTS.0[slot].get()).assume_init_ref() })
        });
        let lines = lines.collect();
        Self { lines, slots }
    }

    /// The lines, in the order of their places' list.
    #[must_use]
    pub fn lines(&self) -> &[SourceLine] {
        &self.lines
    }
}

impl Drop for SourceLines {
    fn drop(&mut self) {
        lock_to_change().free.append(&mut self.slots);
    }
}

impl Table {
    /// Assigns a slot to this line; none if all are in use.
    fn slot(&mut self, line: Written, caller: &Location<'static>) -> Option<usize> {
        if let Some(slot) = self.free.pop() {
            self.lines[slot] = line;
            return Some(slot);
        }
        let slot = self.lines.len();
        let written = SLOTS.0.get(slot)?;
        // SAFETY: the slot is behind those that have been written, so nothing refers to it; the table is locked.
        unsafe { (*written.get()).write(*caller) };
        self.lines.push(line);
        Some(slot)
    }
}

fn lock() -> RwLockReadGuard<'static, Table> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}

fn lock_to_change() -> RwLockWriteGuard<'static, Table> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the table for a fork.
#[cfg(target_os = "linux")]
pub(crate) fn lock_source_lines() -> impl Sized {
    lock_to_change()
}

/// What a place stands for, if it is that of a slot.
fn stands_for(location: &'static Location<'static>) -> Option<Written> {
    let start = SLOTS.0.as_ptr().addr();
    let distance = std::ptr::from_ref(location).addr().wrapping_sub(start);
    let slot = distance / size_of::<Slot>();
    match slot < MOST {
        true => lock().lines.get(slot).cloned(),
        false => None,
    }
}

impl From<&'static Location<'static>> for SourceLocation {
    fn from(location: &'static Location<'static>) -> Self {
        match stands_for(location) {
            Some((file, line, column)) => Self {
                file: Cow::Owned(file.as_ref().to_owned()),
                line,
                column,
            },
            None => Self {
                file: Cow::Borrowed(location.file()),
                line: location.line(),
                column: location.column(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_for_that_of_the_other_file() {
        let lines = SourceLines::new("kernel.ptx", &[(7, 1), (9, 5)]);
        let shown = lines
            .lines()
            .iter()
            .map(|line| SourceLocation::from(line.0).to_string());
        assert!(shown.eq(["kernel.ptx:7:1", "kernel.ptx:9:5"]));
        let here = Location::caller();
        assert_eq!(SourceLocation::from(here).line, here.line());
    }

    #[test]
    fn more_than_all_lines_are_those_of_the_call() {
        let places: Vec<(u32, u32)> = (0..MOST as u32 + 5).map(|line| (line, 1)).collect();
        let lines = SourceLines::new("long.ptx", &places);
        let last = lines
            .lines()
            .last()
            .map(|line| SourceLocation::from(line.0));
        assert!(last.is_some_and(|last| last.file.ends_with("source_lines.rs")));
        drop(lines);
        let again = SourceLines::new("short.ptx", &[(3, 1)]);
        let first = SourceLocation::from(again.lines()[0].0);
        assert_eq!(first.to_string(), "short.ptx:3:1");
    }
}
