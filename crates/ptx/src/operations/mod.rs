//! Instructions by family: a name and typed modifiers.

mod arithmetic;
mod bits;
mod control;
mod copies;
mod family;
mod memory;
mod products;
mod synchronisation;
mod video;
mod warp;

pub use arithmetic::{
    Arithmetic, ArithmeticName, Compare, CompareName, Convert, ConvertName, DotProduct,
    DotProductName, Select, SelectName, TestNumber, TestNumberName,
};
pub use bits::{BitField, BitFieldName, Bits, BitsName, Funnel, FunnelName};
pub use control::{
    Branch, BranchName, Dependent, DependentName, Policy, PolicyName, Registers, RegistersName,
};
pub use copies::{
    BulkCopy, BulkCopyName, BulkTensor, BulkTensorName, CopyArrival, CopyArrivalName, CopyGroup,
    CopyGroupName, ThreadCopy, ThreadCopyName,
};
pub use memory::{
    Address, AddressName, Atomic, AtomicName, Fetch, FetchName, Map, MapName, Move, MoveName,
    Sample, SampleName, Transfer, TransferName,
};
pub use products::{
    MatrixTransfer, MatrixTransferName, Product, ProductName, WarpgroupProduct,
    WarpgroupProductName, WarpgroupStep, WarpgroupStepName,
};
pub use synchronisation::{
    Barrier, BarrierName, ClusterBarrier, ClusterBarrierName, Fence, FenceName, Mbarrier,
    MbarrierName, MemoryBarrier, MemoryBarrierName, ProxyFence, ProxyFenceName,
};
pub use video::{
    Video, VideoName, WmmaHalfProduct, WmmaHalfProductName, WmmaProduct, WmmaProductName,
    WmmaTransfer, WmmaTransferName,
};
pub use warp::{
    ActiveMask, ActiveMaskName, Elect, ElectName, Match, MatchName, Reduction, ReductionName,
    Shuffle, ShuffleName, Vote, VoteName,
};

use crate::words::{Memory, Order, Scope, Words};
use family::Family;
use std::fmt;

/// The words of an atomic operation in the order of the manual. ptxas takes the operation, the order, the scope and the
/// space in any.
fn in_order<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut words = words.to_vec();
    if let ["atom" | "red", modifiers @ ..] = words.as_mut_slice() {
        modifiers.sort_by_key(|word| match *word {
            word if Order::of_text(word).is_some() => 0,
            word if Scope::of_text(word).is_some() => 1,
            word if Memory::of_text(word).is_some() => 2,
            _ => 3,
        });
    }
    words
}

/// Collects the families.
macro_rules! operations {
    ($($family:ident,)*) => {
        /// An instruction's operation: its name and its modifiers.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub enum Operation {
            $(#[doc = concat!("Of the family [`", stringify!($family), "`].")] $family($family),)*
            /// An instruction of no family, with its modifiers as text. It can only be read and printed.
            Other(Box<str>),
        }

        impl Operation {
            /// The operation of a name and its modifiers, without dots.
            pub(crate) fn of_words(words: &[&str]) -> Self {
                let words = &in_order(words);
                $(if let Some(family) = $family::read(Words(words)) {
                    return Self::$family(family);
                })*
                Self::Other(words.join(".").into())
            }

            /// Whether it accepts this number of operands.
            pub(crate) fn takes(&self, operands: usize) -> bool {
                match self {
                    $(Self::$family(_) => $family::OPERANDS.contains(&operands),)*
                    Self::Other(_) => true,
                }
            }
        }

        impl fmt::Display for Operation {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$family(family) => family.write(formatter),)*
                    Self::Other(text) => formatter.write_str(text),
                }
            }
        }

        /// Operations of all families, each with a number of operands that it takes.
        #[cfg(test)]
        pub(crate) fn any_operation() -> impl proptest::strategy::Strategy<Value = (Operation, usize)> {
            use proptest::strategy::{Strategy, Union};
            Union::new([$(
                ($family::any(), $family::OPERANDS)
                    .prop_map(|(family, operands)| (Operation::$family(family), operands))
                    .boxed(),
            )*])
        }
    };
}

operations! {
    Arithmetic, Move, Transfer, Bits, Compare, Select, Branch, Convert, Address, Shuffle, Barrier, BitField, Atomic,
    CopyGroup, CopyArrival, BulkTensor, BulkCopy, ThreadCopy, Mbarrier, DotProduct, MemoryBarrier, ProxyFence, Fence,
    ClusterBarrier, MatrixTransfer, Product, WarpgroupProduct, WarpgroupStep, Map, Registers, Dependent, Vote, Match,
    ActiveMask, Reduction, Elect, Funnel, Fetch, TestNumber, Sample, Policy,
    Video, WmmaTransfer, WmmaProduct, WmmaHalfProduct,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str) -> Operation {
        Operation::of_words(&text.split('.').collect::<Vec<_>>())
    }

    #[test]
    fn modifiers_have_types() {
        let Operation::Arithmetic(fma) = of_text("fma.rn.ftz.f32") else {
            panic!("a family of its own");
        };
        assert_eq!(fma.name, ArithmeticName::Fma);
        assert_eq!(fma.rounding, Some(crate::Rounding::NearestEven));
        assert!(fma.ftz.is_some() && fma.saturate.is_none());
        assert_eq!(fma.of, crate::Type::F32);
    }

    #[test]
    fn long_names_come_before_short_ones() {
        assert!(matches!(
            of_text("cp.async.bulk.commit_group"),
            Operation::CopyGroup(_)
        ));
        assert!(matches!(
            of_text("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"),
            Operation::BulkTensor(_)
        ));
        assert!(matches!(
            of_text("barrier.cluster.arrive"),
            Operation::ClusterBarrier(_)
        ));
        assert!(matches!(of_text("bar.warp.sync"), Operation::Barrier(_)));
    }

    #[test]
    fn what_is_of_no_family_keeps_its_text() {
        for text in ["add.rn.f32.rn", "vadd.s32.s32.s32", "ld"] {
            assert_eq!(of_text(text), Operation::Other(text.into()));
        }
    }

    #[test]
    fn families_have_bounds_of_operands() {
        assert!(of_text("fma.rn.f32").takes(4));
        assert!(!of_text("griddepcontrol.wait").takes(1));
    }
}
