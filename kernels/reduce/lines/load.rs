//! Four neighbouring elements of a contiguous line, of which some may be missing.

use super::plan::STRANDS_OF_LANE;
use cuda_std::Pod;
use cuda_std::prelude::*;

/// Elements `at..at + count` of `x`, at most four, and zeros after them: in vectors of `VECTOR`
/// elements if all are there and `is_aligned`.
///
/// # Safety
/// 1. `at + count <= x.len()`, and `count` is at most 4.
/// 2. If `is_aligned`, `VECTOR` elements, at most 16 bytes, divide the address of element `at`.
#[inline(always)]
pub unsafe fn load_quad<T: Pod, const VECTOR: usize>(
    x: Global<T>,
    at: usize,
    count: usize,
    is_aligned: bool,
) -> [T; STRANDS_OF_LANE] {
    let mut elements = [T::zeroed(); STRANDS_OF_LANE];
    if is_aligned && count == STRANDS_OF_LANE {
        let mut place = 0;
        while place < STRANDS_OF_LANE {
            // SAFETY: (1) all four are there. (2) is (2), as VECTOR divides `place`.
            let vector: [T; VECTOR] = unsafe { x.load_vector(at + place) };
            let mut lane = 0;
            while lane < VECTOR {
                elements[place + lane] = vector[lane];
                lane += 1;
            }
            place += VECTOR;
        }
        return elements;
    }
    let mut place = 0;
    while place < STRANDS_OF_LANE {
        if place < count {
            // SAFETY: (1) is (1) and the comparison.
            elements[place] = unsafe { x.load(at + place) };
        }
        place += 1;
    }
    elements
}

/// Whether every line, and so each quad, starts at a multiple of `VECTOR` elements.
#[inline(always)]
pub fn is_aligned<T: Pod, const VECTOR: usize>(x: Global<T>, apart: usize) -> bool {
    let bytes = VECTOR * size_of::<T>();
    (x.as_ptr().addr() | (apart * size_of::<T>())).is_multiple_of(bytes)
}
