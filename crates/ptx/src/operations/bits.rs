//! Operations on bits.

use super::family::family;
use crate::words::{CombinePredicate, FunnelShift, PermuteMode, ShiftAmount, ShiftRange, Type};

family! {
    /// Logic, shifts and counts (PTX ISA, 9.7.8).
    Bits: BitsName {
        And = "and", Or = "or", Xor = "xor", Not = "not", LogicalNot = "cnot", ShiftLeft = "shl", ShiftRight = "shr",
        LeadingZeros = "clz", PopulationCount = "popc", Reverse = "brev",
    }
    with 2..=3;
    /// The type of the operands.
    of: Type,
}

family! {
    /// Operations on parts of words.
    BitField: BitFieldName {
        Extract = "bfe", Insert = "bfi", Find = "bfind", Logic3 = "lop3", Permute = "prmt", Extend = "szext",
        Mask = "bmsk", FindNth = "fns",
    }
    with 2..=7;
    /// Whether `bfind` returns the amount of a shift.
    shiftamt: Option<ShiftAmount>,
    /// How `lop3` combines its predicate.
    combine: Option<CombinePredicate>,
    /// How `szext` and `bmsk` treat large amounts.
    range: Option<ShiftRange>,
    /// The type of the operands.
    of: Type,
    /// How `prmt` chooses bytes.
    mode: Option<PermuteMode>,
}

family! {
    /// Shifts of two words as one.
    Funnel: FunnelName { Shift = "shf", }
    with 4..=4;
    /// The direction.
    direction: FunnelShift,
    /// How large amounts are treated.
    range: ShiftRange,
    /// The type of the operands.
    of: Type,
}
