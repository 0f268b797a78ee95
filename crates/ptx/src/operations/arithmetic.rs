//! Arithmetic, comparisons and conversions.

use super::family::family;
use crate::words::{
    Absolute, Accuracy, Carry, CombinePredicate, Comparison, FlushSubnormal, Half, NotANumber,
    Rectify, Rounding, Saturate, SaturateFinite, SignXor, TestProperty, Type,
};

family! {
    /// Arithmetic of integers and floating-point numbers (PTX ISA, 9.7.1 to 9.7.5).
    Arithmetic: ArithmeticName {
        Add = "add", Subtract = "sub", Multiply = "mul", MultiplyAdd = "mad", Fma = "fma", Divide = "div",
        Remainder = "rem", Min = "min", Max = "max", Negate = "neg", Absolute = "abs", CopySign = "copysign",
        SquareRoot = "sqrt", Reciprocal = "rcp", ReciprocalRoot = "rsqrt", Sine = "sin", Cosine = "cos",
        Logarithm = "lg2", Exponential = "ex2", HyperbolicTangent = "tanh", Multiply24 = "mul24",
        MultiplyAdd24 = "mad24", AddCarry = "addc", SubtractCarry = "subc", MultiplyAddCarry = "madc",
        Difference = "sad",
    }
    with 2..=4;
    /// The half of an integer product.
    half: Option<Half>,
    /// How the result is rounded.
    rounding: Option<Rounding>,
    /// An accuracy instead of a rounding.
    accuracy: Option<Accuracy>,
    /// Whether subnormal numbers are zeros.
    ftz: Option<FlushSubnormal>,
    /// Whether a NaN among the operands is the result.
    nan: Option<NotANumber>,
    /// Whether the result has the exclusive or of the signs.
    xorsign: Option<SignXor>,
    /// Whether `xorsign` compares absolute values, as it always does.
    absolute: Option<Absolute>,
    /// Whether the result is clamped.
    saturate: Option<Saturate>,
    /// Whether negative results become zero.
    relu: Option<Rectify>,
    /// Whether the carry is set.
    carry: Option<Carry>,
    /// The type of the operands.
    of: Type,
}

family! {
    /// Comparisons (PTX ISA, 9.7.6 and 9.7.7).
    Compare: CompareName { SetPredicate = "setp", Set = "set", }
    with 3..=4;
    /// The comparison.
    comparison: Comparison,
    /// How its result is combined with a predicate, the last operand.
    combine: Option<CombinePredicate>,
    /// Whether subnormal numbers are zeros.
    ftz: Option<FlushSubnormal>,
    /// The type of the operands, or of the result of `set`.
    of: Type,
    /// The type of the operands of `set`.
    from: Option<Type>,
}

family! {
    /// Chooses one of two values.
    Select: SelectName { ByPredicate = "selp", BySign = "slct", }
    with 4..=4;
    /// Whether subnormal numbers are zeros.
    ftz: Option<FlushSubnormal>,
    /// The type of the values.
    of: Type,
    /// The type of the number whose sign chooses.
    by: Option<Type>,
}

family! {
    /// Conversions of numbers (PTX ISA, "cvt").
    Convert: ConvertName { Pack = "cvt.pack", Convert = "cvt", }
    with 2..=4;
    /// How the result is rounded.
    rounding: Option<Rounding>,
    /// Whether subnormal numbers are zeros.
    ftz: Option<FlushSubnormal>,
    /// Whether results beyond the largest finite number become it.
    satfinite: Option<SaturateFinite>,
    /// Whether negative results become zero.
    relu: Option<Rectify>,
    /// Whether the result is clamped.
    saturate: Option<Saturate>,
    /// The type of the result.
    to: Type,
    /// The type of the operand.
    from: Type,
    /// The type of the third operand of a packing.
    rest: Option<Type>,
}

family! {
    /// Sums of products of small integers.
    DotProduct: DotProductName { Four = "dp4a", Two = "dp2a", }
    with 4..=4;
    /// Which two bytes of the second operand `dp2a` takes.
    half: Option<Half>,
    /// The type of the first operand's elements, widened.
    a: Type,
    /// The type of the second operand's elements, widened.
    b: Type,
}

family! {
    /// Tests a property of a number.
    TestNumber: TestNumberName { Test = "testp", }
    with 2..=2;
    /// The property.
    property: TestProperty,
    /// The type of the number.
    of: Type,
}
