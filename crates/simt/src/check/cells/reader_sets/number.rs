//! The number of a set.

use bytemuck::Zeroable;

/// The number of a set of [`ReaderSets`](super::ReaderSets); 0 is the empty one. With the bit [`OWN`], no other cell has
/// the set, and it may change. With the bit [`LATE`], which only cells have, it is a set and more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Zeroable)]
#[repr(transparent)]
pub(crate) struct ReaderSet(pub(super) u32);

pub(super) const OWN: u32 = 1 << 31;

/// The write before the reads may be later than the last barrier of the block.
pub(super) const LATE: u32 = 1 << 30;

impl ReaderSet {
    #[inline]
    pub(super) fn place(self) -> usize {
        (self.0 & !(OWN | LATE)) as usize - 1
    }

    #[inline]
    pub fn is_own(self) -> bool {
        self.0 & OWN != 0
    }

    /// What a cell keeps that has this set; `is_late`: its write may be later than the last barrier of the block. Then the
    /// set alone does not tell that a load is allowed.
    #[inline(always)]
    pub fn after_write(self, is_late: bool) -> Self {
        match self.0 {
            0 => self,
            number if is_late => Self(number | LATE),
            _ => self,
        }
    }

    /// The set of a cell that keeps this.
    #[inline(always)]
    pub fn set(self) -> Self {
        Self(self.0 & !LATE)
    }

    /// The same, but what no cell keeps in place of no reads.
    #[inline(always)]
    pub fn unless_empty(self) -> Self {
        match self.0 {
            0 => Self(OWN),
            _ => self,
        }
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
