//! Modifiers of arithmetic.

use super::words;

words! {
    /// The half of a product, or the whole of twice the width.
    Half { Low = "lo", High = "hi", Wide = "wide", }

    /// How a result is rounded. Those with an `i` round to an integer.
    Rounding {
        NearestEven = "rn", Zero = "rz", Down = "rm", Up = "rp", NearestAway = "rna", Stochastic = "rs",
        IntegerNearest = "rni", IntegerZero = "rzi", IntegerDown = "rmi", IntegerUp = "rpi",
    }

    /// Accuracy below that of a rounding.
    Accuracy { Approximate = "approx", Full = "full", }

    /// Subnormal operands and results are zeros.
    FlushSubnormal { Ftz = "ftz", }

    /// Results are clamped: numbers to [0, 1], integers to their type.
    Saturate { Sat = "sat", }

    /// Results beyond the largest finite number become it.
    SaturateFinite { Satfinite = "satfinite", }

    /// Negative results become zero.
    Rectify { Relu = "relu", }

    /// Uses or sets the carry.
    Carry { Cc = "cc", }

    /// A NaN among the operands is the result.
    NotANumber { Nan = "NaN", }

    /// The result has the exclusive or of the operands' signs.
    SignXor { Xorsign = "xorsign", }

    /// Results are added up.
    Accumulate { Add = "add", }

    /// Of the operands' absolute values.
    Absolute { Abs = "abs", }

    /// A comparison. Those with a `u`, except of `lo`, `ls`, are true also for a NaN.
    Comparison {
        Equal = "eq", NotEqual = "ne", Less = "lt", LessEqual = "le", Greater = "gt", GreaterEqual = "ge",
        Lower = "lo", LowerSame = "ls", Higher = "hi", HigherSame = "hs",
        EqualUnordered = "equ", NotEqualUnordered = "neu", LessUnordered = "ltu", LessEqualUnordered = "leu",
        GreaterUnordered = "gtu", GreaterEqualUnordered = "geu", Number = "num", NotANumber = "nan",
    }

    /// How a comparison is combined with a predicate.
    CombinePredicate { And = "and", Or = "or", Xor = "xor", }

    /// The property that `testp` tests.
    TestProperty {
        Finite = "finite", Infinite = "infinite", Number = "number", NotANumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
    }

    /// A funnel shift's direction.
    FunnelShift { Left = "l", Right = "r", }

    /// How shift amounts beyond the width are treated.
    ShiftRange { Clamp = "clamp", Wrap = "wrap", }

    /// `bfind` returns the amount of a shift that moves the bit to the front.
    ShiftAmount { Shiftamt = "shiftamt", }

    /// How `prmt` chooses bytes, if not by four selectors.
    PermuteMode {
        Forward = "f4e", Backward = "b4e", Replicate = "rc8", EdgeLeft = "ecl", EdgeRight = "ecr",
        Halves = "rc16",
    }
}
