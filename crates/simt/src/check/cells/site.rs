//! A source line in 4 bytes, because the shadow holds millions of them.

use crate::basics::CallSite;
use bytemuck::NoUninit;
use std::ptr;

/// A source line in 4 bytes: the distance of its [`Location`] from [`ANCHOR`].
/// Both lie in the same program, which is smaller than 2 GiB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, NoUninit)]
#[repr(transparent)]
pub(in crate::check) struct Site(i32);

static ANCHOR: u8 = 0;

impl Site {
    /// A line of a library that was loaded too far away.
    pub const UNKNOWN: Self = Self(i32::MIN);

    #[inline]
    pub fn of(location: CallSite) -> Self {
        Self::near(location).unwrap_or(Self::UNKNOWN)
    }

    /// None for a line of a library that was loaded too far away.
    #[inline(always)]
    pub fn near(location: CallSite) -> Option<Self> {
        let address = ptr::from_ref(location).expose_provenance();
        let distance = address.wrapping_sub(ptr::from_ref(&ANCHOR).addr()) as isize;
        i32::try_from(distance).ok().map(Self)
    }

    /// The bits that [`of_bits`](Self::of_bits) takes.
    pub fn to_bits(self) -> u32 {
        self.0 as u32
    }

    pub fn of_bits(bits: u32) -> Self {
        Self(bits as i32)
    }

    pub fn location(self) -> Option<CallSite> {
        if self == Self::UNKNOWN {
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
    use std::panic::Location;

    #[test]
    fn a_site_keeps_its_line() {
        let here = Location::caller();
        assert_eq!(Site::of(here).location(), Some(here));
        assert_eq!(Site::UNKNOWN.location(), None);
        assert_eq!(Site::of_bits(Site::of(here).to_bits()), Site::of(here));
    }
}
