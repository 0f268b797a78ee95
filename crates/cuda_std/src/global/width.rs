//! How wide an access may be.

/// Rejects, when compiled, a load that no cache operator has.
pub(super) const fn assert_cached<T, const N: usize>() {
    assert!(
        matches!(N * size_of::<T>(), 4 | 8 | 16),
        "a load that names its caches is 4, 8 or 16 bytes wide: choose N so that N * size_of::<T>() is one of them"
    );
}

/// Rejects, when compiled, a vector that is no single access of the machine.
pub(crate) const fn assert_vector<T, const N: usize>() {
    assert!(
        N * size_of::<T>() == 4 || N * size_of::<T>() == 8 || N * size_of::<T>() == 16,
        "a vector access is 4, 8 or 16 bytes wide: choose N so that N * size_of::<T>() is one of them"
    );
}
