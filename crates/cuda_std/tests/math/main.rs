//! Errors of `cuda_std::math` in units in the last place.
//!
//! A unit in the last place of a number is the distance of the floats around it; below the smallest
//! normal number, that of the subnormal ones. An infinite result counts as the power of two behind
//! the largest number.

mod approximate;
mod double;
mod single;
mod special;
