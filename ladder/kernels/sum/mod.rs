//! The ladder of the sum, step by step.
//!
//! The steps up to the complete unrolling are those of PCC, which in these files is Cheng,
//! Grossman, McKercher: Professional CUDA C Programming, chapter 3. They work in place: they
//! overwrite `x`, and leave one partial sum for each block in `partials`. Integers wrap, in
//! partial sums too.
//!
//! [`sum_cooperative`] follows Harris, Perelygin: Cooperative Groups: Flexible CUDA Thread
//! Programming, and adds to one total.
//!
//! All steps expect blocks whose number of threads is a power of two from 64 to 1024.

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
