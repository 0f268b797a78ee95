//! The number of a set.

use bytemuck::Zeroable;

/// The number of a set of [`ReaderSets`](super::ReaderSets); 0 is the empty one. With the bit [`OWN`], one cell alone
/// has the set, which may change. The bit [`LATE`] occurs only in cells.
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

    /// The word of a cell with this set. `is_late`: the cell's write may be later than the block's last barrier, so the
    /// set alone does not show that a load is allowed.
    #[inline(always)]
    pub fn after_write(self, is_late: bool) -> Self {
        match self.0 {
            0 => self,
            number if is_late => Self(number | LATE),
            _ => self,
        }
    }

    /// The set of a cell with this word.
    #[inline(always)]
    pub fn set(self) -> Self {
        Self(self.0 & !LATE)
    }

    /// The same, with a word that no cell has in place of no reads.
    #[inline(always)]
    pub fn unless_empty(self) -> Self {
        match self.0 {
            0 => Self(OWN),
            _ => self,
        }
    }

    /// From now on, other cells share the set.
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
