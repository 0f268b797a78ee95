//! Integer arithmetic that Rust's `core` lacks.

use crate::machine;

/// `sum` plus the dot product of the four signed bytes of `a` and of `b`; sums wrap. One
/// instruction from compute capability 6.1 on. (`dp4a.s32.s32`: PTX ISA, 9.7.1.23)
///
/// ```
/// use cuda_std::integer::dp4a;
///
/// let word = |bytes: [i8; 4]| i32::from_ne_bytes(bytes.map(|byte| byte as u8));
/// assert_eq!(dp4a(word([1, 2, 3, -4]), word([5, 6, 7, -128]), 1000), 1550);
/// ```
#[inline(always)]
#[must_use]
pub fn dp4a(a: i32, b: i32, sum: i32) -> i32 {
    machine::dot_product_i8(a, b, sum)
}
