//! The input of a reduction: the elements of an array, or the pairs of two.

use cuda_std::Pod;
use cuda_std::array;
use cuda_std::prelude::*;

/// The elements that a kernel reads.
pub trait Elements: Copy {
    /// An element of the array, or a pair.
    type Element: Pod;

    /// Loads elements `at..at + LANES`.
    ///
    /// If `ALIGNED`, one access for each array. Its cache lines are evicted first, because each element is read once.
    /// Otherwise elements are read one by one, and L1 serves those that neighbours in the warp have read.
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

    /// The number of elements.
    fn len(self) -> usize;

    /// Whether each array starts at a multiple of `bytes` bytes.
    fn starts_at_multiple_of(self, bytes: usize) -> bool;
}

impl<T: Pod> Elements for Global<'_, T> {
    type Element = T;

    #[inline(always)]
    #[track_caller]
    unsafe fn load<const LANES: usize, const ALIGNED: bool>(self, at: usize) -> [T; LANES] {
        // SAFETY: the elements exist and, if `ALIGNED`, are aligned to 16 bytes: the caller's
        // contract.
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

/// Pairs of the elements of two arrays.
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
        // SAFETY: range and alignment: the caller's contract. Both arrays have the same length: the
        // contract of `new`.
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
