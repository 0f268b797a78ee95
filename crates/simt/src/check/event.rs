//! What the shadow memory remembers of one access.

use crate::basics::AccessKind;
use std::fmt;
use std::panic::Location;
use std::ptr;

/// A moment in the life of a block: it grows by one at each thing that can
/// order two accesses. 0 is before everything.
pub(super) type Time = u32;

/// What an access has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum EventKind {
    /// There was no access.
    Nothing,
    Read,
    Write,
    Atomic,
    AtomicRead,
    AtomicWrite,
    AsyncRead,
    /// An asynchronous copy that its thread has waited for.
    AsyncWrite,
    /// An asynchronous copy that has been issued.
    InFlight,
}

impl EventKind {
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::AtomicRead | Self::AtomicWrite)
    }

    #[inline]
    pub fn reads(self) -> bool {
        matches!(
            self,
            Self::Read | Self::Atomic | Self::AtomicRead | Self::AsyncRead
        )
    }

    #[inline]
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Self::Nothing | Self::Read | Self::AtomicRead | Self::AsyncRead
        )
    }
}

impl From<AccessKind> for EventKind {
    fn from(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Read => Self::Read,
            AccessKind::Write => Self::Write,
            AccessKind::Atomic => Self::Atomic,
            AccessKind::AtomicRead => Self::AtomicRead,
            AccessKind::AtomicWrite => Self::AtomicWrite,
            AccessKind::AsyncRead => Self::AsyncRead,
            AccessKind::AsyncWrite => Self::InFlight,
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Nothing => "nothing",
            Self::Read => "a read",
            Self::Write => "a write",
            Self::Atomic => "an atomic update",
            Self::AtomicRead => "an atomic load",
            Self::AtomicWrite => "an atomic store",
            Self::AsyncRead => "an asynchronous read",
            Self::AsyncWrite => "an asynchronous write",
            Self::InFlight => "an asynchronous copy in flight",
        })
    }
}

/// The threads that an event stands for besides its own: others whose atomic
/// updates nothing orders with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(super) enum Others {
    None,
    OfWarp,
    OfBlock,
    OfOtherBlocks,
}

/// One access: 16 bytes, because the shadow holds millions of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub time: Time,
    /// The low bits of the block's number: no launch that ends has more.
    pub block: u32,
    pub site: Site,
    /// The thread's number in its block.
    pub thread: u16,
    pub kind: EventKind,
    pub others: Others,
}

impl Event {
    pub const NOTHING: Self = Self {
        time: 0,
        block: 0,
        site: Site(Site::UNKNOWN),
        thread: 0,
        kind: EventKind::Nothing,
        others: Others::None,
    };

    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.kind == EventKind::Nothing
    }
}

/// A source line in 4 bytes: the distance of its [`Location`] from [`ANCHOR`].
/// Both lie in the same program, which is smaller than 2 GiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Site(i32);

static ANCHOR: u8 = 0;

impl Site {
    /// A line of a library that was loaded too far away.
    const UNKNOWN: i32 = i32::MIN;

    #[inline]
    pub fn of(location: &'static Location<'static>) -> Self {
        let address = ptr::from_ref(location).expose_provenance();
        let distance = address.wrapping_sub(ptr::from_ref(&ANCHOR).addr()) as isize;
        Self(i32::try_from(distance).unwrap_or(Self::UNKNOWN))
    }

    pub fn location(self) -> Option<&'static Location<'static>> {
        if self.0 == Self::UNKNOWN {
            return None;
        }
        let address = ptr::from_ref(&ANCHOR)
            .addr()
            .wrapping_add_signed(self.0 as isize);
        // SAFETY: every other value was made by `of` from a `Location` at this
        // very address, which is static and whose provenance it has exposed.
        Some(unsafe { &*ptr::with_exposed_provenance(address) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_keeps_its_line() {
        let here = Location::caller();
        assert_eq!(Site::of(here).location(), Some(here));
        assert_eq!(Event::NOTHING.site.location(), None);
    }

    #[test]
    fn events_stay_small() {
        assert_eq!(size_of::<Event>(), 16);
    }
}
