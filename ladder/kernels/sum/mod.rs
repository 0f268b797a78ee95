//! The sum ladder, step by step.
//!
//! The steps up to the complete unrolling are those of PCC, which in these files is Cheng,
//! Grossman, McKercher: Professional CUDA C Programming, chapter 3. They work in place: they
//! overwrite `x`, and write one partial sum per block to `partials`. Integers wrap, including
//! partial sums.
//!
//! [`sum_cooperative`] follows Harris, Perelygin: Cooperative Groups: Flexible CUDA Thread
//! Programming, and adds to one total.
//!
//! All steps need blocks of a power of two of threads, from 64 to 1024.

mod completely_unrolled;
mod cooperative;
mod interleaved;
mod neighboured;
mod neighboured_less;
mod part;
mod shuffled;
mod unrolled;
mod unrolled_warps;

pub use completely_unrolled::{
    sum_completely_unrolled_64, sum_completely_unrolled_128, sum_completely_unrolled_256,
    sum_completely_unrolled_512, sum_completely_unrolled_1024,
};
pub use cooperative::sum_cooperative;
pub use interleaved::sum_interleaved;
pub use neighboured::sum_neighboured;
pub use neighboured_less::sum_neighboured_less;
pub use part::UNROLLED;
pub use shuffled::sum_shuffled;
pub use unrolled::sum_unrolled;
pub use unrolled_warps::sum_unrolled_warps;
