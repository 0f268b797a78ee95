//! The library's kernels of lines and segments: two for each line of the table of line reductions, and one for each
//! of the table of segments.

use super::source::{OneArray, TwoArrays};
use crate::reduce::operations::*;
use half::{bf16, f16};

macro_rules! kernels_of_lines {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_kernels! {
            [] (x apart) of $element: $operation of $element, OneArray::new(x, apart),
            $along at $along_blocks blocks, $across at $across_blocks blocks
        }
    )*};
}
for_each_line_reduction!(kernels_of_lines);

macro_rules! kernels_of_pair_lines {
    ($($operation:ident of $element:ident: $along:ident at $along_blocks:literal blocks,
        $across:ident at $across_blocks:literal blocks;)*) => {$(
        line_kernels! {
            [] (x apart, y y_apart) of $element: $operation of [$element; 2],
            TwoArrays::new(OneArray::new(x, apart), OneArray::new(y, y_apart)),
            $along at $along_blocks blocks, $across at $across_blocks blocks
        }
    )*};
}
for_each_pair_line_reduction!(kernels_of_pair_lines);

macro_rules! kernels_of_segments {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        segment_kernel! {
            [] (x) of $element: $operation of $element, OneArray::new(x, 0), $name at $blocks blocks
        }
    )*};
}
for_each_segment_reduction!(kernels_of_segments);

macro_rules! kernels_of_pair_segments {
    ($($operation:ident of $element:ident: $name:ident at $blocks:literal blocks;)*) => {$(
        segment_kernel! {
            [] (x, y) of $element: $operation of [$element; 2],
            TwoArrays::new(OneArray::new(x, 0), OneArray::new(y, 0)), $name at $blocks blocks
        }
    )*};
}
for_each_pair_segment_reduction!(kernels_of_pair_segments);
