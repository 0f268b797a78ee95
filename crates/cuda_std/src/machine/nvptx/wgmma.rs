//! Products of a warpgroup (PTX ISA, 9.7.15: `wgmma`), on compute capability 9.0.
//!
//! The accumulators are read-write operands of each product, so the compiler keeps them in the same
//! registers. Products run asynchronously; the accumulators hold their results only after
//! [`Registers::wait`].

use crate::fp8::{F8E4M3, F8E5M2};
use crate::wgmma::{Descriptor, Multiply, Registers};
use core::arch::asm;
use half::{bf16, f16};

/// Makes this warp's register writes visible to its products.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, converged.
#[inline(always)]
pub unsafe fn wgmma_fence() {
    // SAFETY: the caller's contract. A fence only orders accesses.
    unsafe { asm!("wgmma.fence.sync.aligned;", options(nostack)) }
}

/// Closes the group of products that this warp has started since the last call.
///
/// # Safety
/// As for [`wgmma_fence`].
#[inline(always)]
pub unsafe fn wgmma_commit() {
    // SAFETY: the caller's contract. Touches no memory.
    unsafe { asm!("wgmma.commit_group.sync.aligned;", options(nostack)) }
}

/// Waits until at most `PENDING` of this warp's groups of products are unfinished.
///
/// # Safety
/// As for [`wgmma_fence`].
#[inline(always)]
pub unsafe fn wgmma_wait<const PENDING: u32>() {
    // SAFETY: the caller's contract. The callers of the products guarantee their accesses. Without `nomem`, the
    // compiler moves no memory access across the wait.
    unsafe { asm!("wgmma.wait_group.sync.aligned {0};", const PENDING, options(nostack)) }
}

/// Accumulators of one type, in `$count` registers of each thread.
macro_rules! registers {
    ($element:ty, $count:literal, $first:literal $($index:literal)*) => {
        impl Registers for [$element; $count] {
            #[inline(always)]
            fn begin(&mut self) {
                // SAFETY: the assembly is a comment. It keeps the compiler from moving the
                // computation of the registers past it.
                unsafe {
                    asm!(
                        concat!("// {", $first, "}", $(" {", $index, "}",)*),
                        inout(reg32) self[$first],
                        $(inout(reg32) self[$index],)*
                        options(nostack),
                    );
                }
            }

            #[inline(always)]
            unsafe fn wait<const PENDING: u32>(&mut self) {
                // SAFETY: as for `wgmma_wait`. A comment names the registers.
                unsafe {
                    asm!(
                        concat!(
                            "wgmma.wait_group.sync.aligned {pending}; // {", $first, "}",
                            $(" {", $index, "}",)*
                        ),
                        inout(reg32) self[$first],
                        $(inout(reg32) self[$index],)*
                        pending = const PENDING,
                        options(nostack),
                    );
                }
            }
        }
    };
}

/// The product of one shape, `$n`, and `$types`, with the operands after its predicate.
macro_rules! product {
    ($a:ty, $b:ty, $element:ty, $n:literal, $count:literal, $types:literal, $immediates:literal,
        [$($layout:ident = $constant:ident),*], $first:literal $($index:literal)*) => {
        impl Multiply<$a, $b> for [$element; $count] {
            #[inline(always)]
            unsafe fn multiply<const A_MN: i32, const B_MN: i32>(
                &mut self,
                a: Descriptor,
                b: Descriptor,
                accumulate: bool,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        "{{",
                        ".reg .pred %accumulate;",
                        "setp.ne.b32 %accumulate, {accumulate}, 0;",
                        concat!(
                            "wgmma.mma_async.sync.aligned.m64n", $n, $types, " {{{", $first, "}",
                            $(", {", $index, "}",)*
                            "}}, {a}, {b}, %accumulate", $immediates, ";"
                        ),
                        "}}",
                        inout(reg32) self[$first],
                        $(inout(reg32) self[$index],)*
                        a = in(reg64) a.bits,
                        b = in(reg64) b.bits,
                        accumulate = in(reg32) u32::from(accumulate),
                        $($layout = const $constant,)*
                        options(nostack),
                    );
                }
            }
        }
    };
}

/// All products with 64 x `$n` outputs, `$count` in each thread, or those of floats alone. Only 16-bit types take an
/// operand's major order, and integers have no factor of 1 or -1.
macro_rules! products {
    (floats $n:literal, $count:literal, $($index:literal)*) => {
        registers!(f32, $count, $($index)*);
        product!(f16, f16, f32, $n, $count, "k16.f32.f16.f16", ", 1, 1, {a_mn}, {b_mn}",
            [a_mn = A_MN, b_mn = B_MN], $($index)*);
        product!(bf16, bf16, f32, $n, $count, "k16.f32.bf16.bf16", ", 1, 1, {a_mn}, {b_mn}",
            [a_mn = A_MN, b_mn = B_MN], $($index)*);
        product!(f32, f32, f32, $n, $count, "k8.f32.tf32.tf32", ", 1, 1", [], $($index)*);
        product!(F8E4M3, F8E4M3, f32, $n, $count, "k32.f32.e4m3.e4m3", ", 1, 1", [], $($index)*);
        product!(F8E4M3, F8E5M2, f32, $n, $count, "k32.f32.e4m3.e5m2", ", 1, 1", [], $($index)*);
        product!(F8E5M2, F8E4M3, f32, $n, $count, "k32.f32.e5m2.e4m3", ", 1, 1", [], $($index)*);
        product!(F8E5M2, F8E5M2, f32, $n, $count, "k32.f32.e5m2.e5m2", ", 1, 1", [], $($index)*);
    };
    (all $n:literal, $count:literal, $($index:literal)*) => {
        products!(floats $n, $count, $($index)*);
        registers!(i32, $count, $($index)*);
        product!(i8, i8, i32, $n, $count, "k32.s32.s8.s8", "", [], $($index)*);
        product!(u8, u8, i32, $n, $count, "k32.s32.u8.u8", "", [], $($index)*);
    };
}

/// Every width: each line has the columns, the accumulators, and those that the width before does not have. Beyond 32
/// columns, those of integers are a multiple of 16.
macro_rules! widths {
    ([$($index:literal)*]) => {};
    ([$($before:literal)*] $n:literal $count:literal $types:ident: $($index:literal)*; $($rest:tt)*) => {
        products!($types $n, $count, $($before)* $($index)*);
        widths!([$($before)* $($index)*] $($rest)*);
    };
}
widths! { []
    8 4 all: 0 1 2 3;
    16 8 all: 4 5 6 7;
    24 12 all: 8 9 10 11;
    32 16 all: 12 13 14 15;
    40 20 floats: 16 17 18 19;
    48 24 all: 20 21 22 23;
    56 28 floats: 24 25 26 27;
    64 32 all: 28 29 30 31;
    72 36 floats: 32 33 34 35;
    80 40 all: 36 37 38 39;
    88 44 floats: 40 41 42 43;
    96 48 all: 44 45 46 47;
    104 52 floats: 48 49 50 51;
    112 56 all: 52 53 54 55;
    120 60 floats: 56 57 58 59;
    128 64 all: 60 61 62 63;
    136 68 floats: 64 65 66 67;
    144 72 all: 68 69 70 71;
    152 76 floats: 72 73 74 75;
    160 80 all: 76 77 78 79;
    168 84 floats: 80 81 82 83;
    176 88 all: 84 85 86 87;
    184 92 floats: 88 89 90 91;
    192 96 all: 92 93 94 95;
    200 100 floats: 96 97 98 99;
    208 104 all: 100 101 102 103;
    216 108 floats: 104 105 106 107;
    224 112 all: 108 109 110 111;
    232 116 floats: 112 113 114 115;
    240 120 all: 116 117 118 119;
    248 124 floats: 120 121 122 123;
    256 128 all: 124 125 126 127;
}
