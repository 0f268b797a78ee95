//! Extents and indices with three components.

use std::fmt;

/// Three components of an extent (of a grid, of a block) or of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim3 {
    /// The fastest-running component.
    pub x: u32,
    /// The middle component.
    pub y: u32,
    /// The slowest-running component.
    pub z: u32,
}

impl Dim3 {
    /// The extent or index `(x, y, z)`.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// How many elements an extent holds; `u64::MAX` if that does not fit.
    pub const fn count(self) -> u64 {
        // The product of two u32 always fits.
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    /// The index of element number `linear`, with `x` running fastest.
    pub(crate) fn index_of(self, linear: u64) -> Dim3 {
        let (x, y) = (u64::from(self.x), u64::from(self.y));
        // Each component is below its u32 extent when `linear < count()`.
        Dim3 {
            x: (linear % x) as u32,
            y: (linear / x % y) as u32,
            z: (linear / (x * y)) as u32,
        }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "({}, {}, {})", self.x, self.y, self.z)
    }
}

#[cfg(test)]
mod tests {
    use super::Dim3;

    #[test]
    fn index_of_runs_x_fastest() {
        let extent = Dim3::new(2, 3, 4);
        assert_eq!(extent.index_of(0), Dim3::new(0, 0, 0));
        assert_eq!(extent.index_of(1), Dim3::new(1, 0, 0));
        assert_eq!(extent.index_of(2), Dim3::new(0, 1, 0));
        assert_eq!(extent.index_of(23), Dim3::new(1, 2, 3));
    }

    #[test]
    fn count_saturates() {
        assert_eq!(Dim3::new(7, 5, 3).count(), 105);
        assert_eq!(Dim3::new(u32::MAX, u32::MAX, u32::MAX).count(), u64::MAX);
    }
}
