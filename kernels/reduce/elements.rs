//! What a kernel reads: the elements of an array, or the pairs of two.

use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// Elements that a kernel reads.
pub trait Elements: Copy {
    /// An element of the array, or a pair.
    type Element: Pod;

    /// Elements `at..at + LANES`: of each array in one access if `ALIGNED`, whose cache lines are the
    /// first to be evicted, because each element is read once. Otherwise they are read one by one, and
    /// those that the neighbours in a warp read come from the first-level cache.
    ///
    /// # Safety
    /// 1. `at + LANES <= self.len()`.
    /// 2. If `ALIGNED`, `LANES` elements of an array are 16 bytes and divide the address of element
    ///    `at`.
    #[track_caller]
    unsafe fn load<const LANES: usize, const ALIGNED: bool>(
        self,
        at: usize,
    ) -> [Self::Element; LANES];

    /// Element `at`, or `None` past the end.
    #[track_caller]
    fn get(self, at: usize) -> Option<Self::Element>;

    /// Their number.
    fn len(self) -> usize;

    /// Whether each array starts at a multiple of `bytes` bytes.
    fn starts_at_multiple_of(self, bytes: usize) -> bool;
}

impl<T: Pod> Elements for Global<'_, T> {
    type Element = T;

    #[inline(always)]
    #[track_caller]
    unsafe fn load<const LANES: usize, const ALIGNED: bool>(self, at: usize) -> [T; LANES] {
        // SAFETY: (1) is (1), and of `load_streaming` (2) is (2).
        unsafe {
            if ALIGNED {
                self.load_streaming(at)
            } else {
                array::from_fn(|lane| Global::load(self, at + lane))
            }
        }
    }

    #[inline(always)]
    #[track_caller]
    fn get(self, at: usize) -> Option<T> {
        Global::get(self, at)
    }

    #[inline(always)]
    fn len(self) -> usize {
        Global::len(self)
    }

    #[inline(always)]
    fn starts_at_multiple_of(self, bytes: usize) -> bool {
        self.as_ptr().addr().is_multiple_of(bytes)
    }
}

/// The pairs of the elements of two arrays.
#[cfg(feature = "entries")]
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'launch, T> {
    x: Global<'launch, T>,
    y: Global<'launch, T>,
}

#[cfg(feature = "entries")]
impl<'launch, T: Pod> Pairs<'launch, T> {
    /// The pairs of `x` and `y`.
    ///
    /// # Safety
    /// 1. Both have the same length.
    #[inline(always)]
    pub unsafe fn new(x: Global<'launch, T>, y: Global<'launch, T>) -> Self {
        Self { x, y }
    }
}

#[cfg(feature = "entries")]
impl<T: Pod> Elements for Pairs<'_, T> {
    type Element = [T; 2];

    #[inline(always)]
    #[track_caller]
    unsafe fn load<const LANES: usize, const ALIGNED: bool>(self, at: usize) -> [[T; 2]; LANES] {
        // SAFETY: (1), (2) are the caller's; both have the same length, by (1) of `new`.
        let (x, y) = unsafe {
            (
                Elements::load::<LANES, ALIGNED>(self.x, at),
                Elements::load::<LANES, ALIGNED>(self.y, at),
            )
        };
        array::from_fn(|lane| [x[lane], y[lane]])
    }

    #[inline(always)]
    #[track_caller]
    fn get(self, at: usize) -> Option<[T; 2]> {
        match (self.x.get(at), self.y.get(at)) {
            (Some(x), Some(y)) => Some([x, y]),
            _ => None,
        }
    }

    #[inline(always)]
    fn len(self) -> usize {
        self.x.len()
    }

    #[inline(always)]
    fn starts_at_multiple_of(self, bytes: usize) -> bool {
        self.x.starts_at_multiple_of(bytes) && self.y.starts_at_multiple_of(bytes)
    }
}
