//! What less usual instructions compute: with `.ftz`, `.sat`, `.relu`, of packed numbers, and approximations.
//!
//! Their functions are put together when a kernel is decoded. A plain instruction has a function pointer, which is
//! faster.

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod format;
mod video;

pub(crate) use arithmetic::{arithmetic, is_of_halves, sum_of_halves};
pub(crate) use bits::{bit_field, dot_product_of_halves};
pub(crate) use compare::{select_by_sign, set, test_number};
pub(crate) use convert::convert;
pub(crate) use video::video;
