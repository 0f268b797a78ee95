//! Errors of `cuda_std::math` in units in the last place.
//!
//! A unit in the last place of a number is the distance between the floats around it; below the
//! smallest normal number, the distance between subnormal numbers. An infinite result counts as the
//! power of two above the largest number.

mod approximate;
mod double;
mod single;
mod special;
