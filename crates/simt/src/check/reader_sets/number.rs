//! The number of a set.

/// The number of a set of [`ReaderSets`](super::ReaderSets); 0 is the empty one. With the bit [`OWN`], no other cell has
/// the set, and it may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReaderSet(pub(super) u32);

pub(super) const OWN: u32 = 1 << 31;

impl ReaderSet {
    #[inline]
    pub(super) fn place(self) -> usize {
        (self.0 & !OWN) as usize - 1
    }

    #[inline]
    pub fn is_own(self) -> bool {
        self.0 & OWN != 0
    }

    /// Other cells have the set, too, from now on.
    pub fn make_common(&mut self) {
        self.0 &= !OWN;
    }
}

#[cfg(test)]
impl ReaderSet {
    pub fn of_number(number: usize) -> Self {
        Self(number as u32)
    }

    pub fn number(self) -> usize {
        self.0 as usize
    }
}
