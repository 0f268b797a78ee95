//! The parameters of kernels with an epilogue.

/// The parameters of a kernel with an epilogue in numbers of a type: those before the epilogue's, and those after.
macro_rules! with_epilogue {
    ($launch:lifetime, $sum:ty; $($before:ty),* $(; $($after:ty),*)?) => {
        (
            $($before,)*
            GridConstant<$launch, EpilogueNumbers<$sum>>,
            Global<$launch, $sum>,
            Global<$launch, $sum>,
            Global<$launch, $sum>,
            Global<$launch, $sum>,
            $($($after,)*)?
        )
    };
}
pub(super) use with_epilogue;
