//! The widths of vector accesses.

/// Rejects widths that loads with a cache operator do not have, at compile time.
pub(super) const fn assert_cached<T, const N: usize>() {
    assert!(
        matches!(N * size_of::<T>(), 4 | 8 | 16),
        "a load with a cache operator is 4, 8 or 16 bytes wide: choose N so that N * size_of::<T>() is one of them"
    );
}

/// Rejects vectors that are not one access, at compile time.
pub(crate) const fn assert_vector<T, const N: usize>() {
    assert!(
        matches!(N * size_of::<T>(), 2 | 4 | 8 | 16),
        "a vector access is 2, 4, 8 or 16 bytes wide: choose N so that N * size_of::<T>() is one of them"
    );
}
