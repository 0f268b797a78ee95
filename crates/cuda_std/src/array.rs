//! Arrays that a thread keeps in registers.

/// An array of `element(i)`, called in order of i.
///
/// It is part of its caller on every machine. [`core::array::from_fn`] may remain a function in large kernels, whose
/// arrays and captured values are then in local memory.
#[inline(always)]
pub fn from_fn<T: Copy, const N: usize>(mut element: impl FnMut(usize) -> T) -> [T; N] {
    let mut made = Unfinished { nothing: () };
    let mut i = 0;
    while i < N {
        // SAFETY: the element is written, and elements have no destructors.
        unsafe { made.array[i] = element(i) };
        i += 1;
    }
    // SAFETY: the loop wrote every element.
    unsafe { made.array }
}

union Unfinished<T: Copy, const N: usize> {
    nothing: (),
    array: [T; N],
}
