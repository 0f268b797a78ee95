//! The operations.
//!
//! | file | operations |
//! |---|---|
//! | `sum.rs` | [`Sum`] |
//! | `extremes.rs` | [`Min`], [`Max`], [`MinMax`], [`ArgMin`], [`ArgMax`] |
//! | `mean.rs` | [`Mean`] |
//! | `terms.rs` | [`SumOfSquares`], [`Norm1`], [`Product`], [`Dot`] |
//! | `norms.rs` | [`Norm2`], [`NormInf`] |
//! | `variance.rs` | [`Variance`] |
//! | `mask.rs` | [`Count`], [`Any`], [`All`] |
//!
//! `order.rs` has the order of elements, `number.rs` the elements that are computed in f64.

mod extremes;
mod mask;
mod mean;
mod norms;
mod number;
mod order;
mod sum;
mod terms;
mod variance;

pub use extremes::{ArgMax, ArgMin, Max, Min, MinMax};
#[cfg(feature = "entries")]
pub(crate) use extremes::{Place, rank_for_max};
pub use mask::{All, Any, Count};
pub use mean::Mean;
pub use norms::{Norm2, NormInf};
pub use number::{Number, Real};
pub use order::{Magnitude, Ordered, Rank};
pub use sum::Sum;
pub use terms::{Dot, Norm1, Product, SumOfSquares};
pub use variance::Variance;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::operation::Reduction;
    use bytemuck::{Zeroable, bytes_of};
    use half::{bf16, f16};

    /// Maps an index in a shard to the whole array.
    fn place(index: usize) -> usize {
        index + 1000
    }

    macro_rules! operations_of_groups {
        ($($name:ident: $operation:ident of $element:ident;)*) => {$(
            let (zero, identity) = ($element::zeroed(), <$operation as Reduction<$element>>::IDENTITY);
            let with_place = |partial| <$operation as Reduction<$element>>::with_place(partial, place);
            let lift = |index| <$operation as Reduction<$element>>::lift(zero, index);
            let name = stringify!($name);
            assert_eq!(bytes_of(&with_place(lift(7))), bytes_of(&lift(1007)), "{name}");
            assert_eq!(bytes_of(&with_place(identity)), bytes_of(&identity), "{name}");
        )*};
    }

    #[test]
    fn indices_that_operations_carry_are_replaced() {
        crate::for_each_reduction!(operations_of_groups);
    }

    macro_rules! sums_of_groups {
        ($($name:ident, $unaligned:ident: sum of $element:ident in $sum:ident;)*) => {
            operations_of_groups!($($name: Sum of $element;)*);
        };
    }

    #[test]
    fn sums_carry_no_index() {
        crate::for_each_sum!(sums_of_groups);
    }

    macro_rules! pairs_of_groups {
        ($($name:ident: $operation:ident of $element:ident;)*) => {$(
            let zeros = <[$element; 2]>::zeroed();
            let lift = |index| <$operation as Reduction<[$element; 2]>>::lift(zeros, index);
            assert_eq!(bytes_of(&lift(7)), bytes_of(&lift(1007)), stringify!($name));
        )*};
    }

    /// Groups combine the partial results of pairs without mapping indices.
    #[test]
    fn operations_on_pairs_carry_no_index() {
        crate::for_each_pair_reduction!(pairs_of_groups);
    }
}
