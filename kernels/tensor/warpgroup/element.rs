//! Element types of A and B.

use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::wgmma::Element;
use half::{bf16, f16};

/// An element type of A and B.
pub trait TensorElement: Element {
    /// Whether the sums of each stage are added to totals on the CUDA cores.
    const HAS_TOTALS: bool;
}

macro_rules! tensor_elements {
    ($($element:ident: $has_totals:literal;)*) => {$(
        impl TensorElement for $element {
            const HAS_TOTALS: bool = $has_totals;
        }
    )*};
}
tensor_elements! {
    f16: false;
    bf16: false;
    i8: false;
    F8E4M3: true;
    F8E5M2: true;
}
