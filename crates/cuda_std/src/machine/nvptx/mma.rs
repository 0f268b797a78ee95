//! Products of a warp on tensor cores (PTX ISA, 9.7.13: `mma`, `ldmatrix`, `stmatrix`), from compute capability 8.0.

use super::memory::shared_address;
use crate::mma::{MatrixRegisters, Multiply, Tf32};
use bytemuck::Pod;
use core::arch::asm;
use half::{bf16, f16};

/// A product with numbered registers: `operand = register` for the accumulators, A and B.
macro_rules! products {
    ($($a:ty, $b:ty => $c:ty, $m:literal x $n:literal x $k:literal $types:literal: $class:ident
        [$c0:literal $($cn:literal)*] [$a0:literal = $ar0:literal $($an:literal = $arn:literal)*]
        [$b0:literal = $br0:literal $($bn:literal = $brn:literal)*];)*) => {$(
        impl Multiply<$b, $c, $m, $n, $k> for $a {
            #[inline(always)]
            unsafe fn multiply(
                a: <Self as crate::mma::Element<$m, $k>>::Registers,
                b: <$b as crate::mma::Element<$k, $n>>::Registers,
                mut c: <$c as crate::mma::Element<$m, $n>>::Registers,
            ) -> <$c as crate::mma::Element<$m, $n>>::Registers {
                // SAFETY: the caller's contract. The instruction exchanges registers and accesses
                // no memory.
                unsafe {
                    asm!(
                        concat!(
                            "mma.sync.aligned.m", $m, "n", $n, "k", $k, ".row.col", $types,
                            " {{{", $c0, "}", $(", {", $cn, "}",)* "}},",
                            " {{{", $a0, "}", $(", {", $an, "}",)* "}},",
                            " {{{", $b0, "}", $(", {", $bn, "}",)* "}},",
                            " {{{", $c0, "}", $(", {", $cn, "}",)* "}};",
                        ),
                        inout($class) c[$c0],
                        $(inout($class) c[$cn],)*
                        in($class) a[$ar0],
                        $(in($class) a[$arn],)*
                        in($class) b[$br0],
                        $(in($class) b[$brn],)*
                        options(nomem, nostack),
                    );
                }
                c
            }
        }
    )*};
}
products! {
    f16, f16 => f32, 16 x 8 x 8 ".f32.f16.f16.f32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    f16, f16 => f32, 16 x 8 x 16 ".f32.f16.f16.f32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    f16, f16 => f16, 16 x 8 x 8 ".f16.f16.f16.f16": reg32 [0 1] [2 = 0 3 = 1] [4 = 0];
    f16, f16 => f16, 16 x 8 x 16 ".f16.f16.f16.f16": reg32 [0 1] [2 = 0 3 = 1 4 = 2 5 = 3] [6 = 0 7 = 1];
    bf16, bf16 => f32, 16 x 8 x 8 ".f32.bf16.bf16.f32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    bf16, bf16 => f32, 16 x 8 x 16 ".f32.bf16.bf16.f32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    Tf32, Tf32 => f32, 16 x 8 x 4 ".f32.tf32.tf32.f32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    Tf32, Tf32 => f32, 16 x 8 x 8 ".f32.tf32.tf32.f32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    i8, i8 => i32, 8 x 8 x 16 ".s32.s8.s8.s32": reg32 [0 1] [2 = 0] [3 = 0];
    i8, i8 => i32, 16 x 8 x 16 ".s32.s8.s8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    i8, i8 => i32, 16 x 8 x 32 ".s32.s8.s8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    i8, u8 => i32, 8 x 8 x 16 ".s32.s8.u8.s32": reg32 [0 1] [2 = 0] [3 = 0];
    i8, u8 => i32, 16 x 8 x 16 ".s32.s8.u8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    i8, u8 => i32, 16 x 8 x 32 ".s32.s8.u8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    u8, i8 => i32, 8 x 8 x 16 ".s32.u8.s8.s32": reg32 [0 1] [2 = 0] [3 = 0];
    u8, i8 => i32, 16 x 8 x 16 ".s32.u8.s8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    u8, i8 => i32, 16 x 8 x 32 ".s32.u8.s8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    u8, u8 => i32, 8 x 8 x 16 ".s32.u8.u8.s32": reg32 [0 1] [2 = 0] [3 = 0];
    u8, u8 => i32, 16 x 8 x 16 ".s32.u8.u8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    u8, u8 => i32, 16 x 8 x 32 ".s32.u8.u8.s32": reg32 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    f64, f64 => f64, 8 x 8 x 4 ".f64.f64.f64.f64": reg64 [0 1] [2 = 0] [3 = 0];
    f64, f64 => f64, 16 x 8 x 4 ".f64.f64.f64.f64": reg64 [0 1 2 3] [4 = 0 5 = 1] [6 = 0];
    f64, f64 => f64, 16 x 8 x 8 ".f64.f64.f64.f64": reg64 [0 1 2 3] [4 = 0 5 = 1 6 = 2 7 = 3] [8 = 0 9 = 1];
    f64, f64 => f64, 16 x 8 x 16 ".f64.f64.f64.f64": reg64 [0 1 2 3]
        [4 = 0 5 = 1 6 = 2 7 = 3 8 = 4 9 = 5 10 = 6 11 = 7] [12 = 0 13 = 1 14 = 2 15 = 3];
}

/// Matrices of 8 rows or columns of 16 bytes. The address is the operand after the registers.
macro_rules! matrices {
    ($($count:literal: $address:literal [$first:literal $($next:literal)*];)*) => {$(
        impl MatrixRegisters for [u32; $count] {
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn load<T: Pod, const TRANSPOSED: bool>(
                base: *const T,
                _len: usize,
                index: usize,
            ) -> Self {
                let mut registers = [0; $count];
                // SAFETY: the caller's contract.
                unsafe {
                    let address = shared_address(base.add(index));
                    if TRANSPOSED {
                        asm!(
                            concat!(
                                "ldmatrix.sync.aligned.m8n8.x", $count, ".trans.shared.b16 {{{", $first, "}",
                                $(", {", $next, "}",)* "}}, [{", $address, "}];",
                            ),
                            out(reg32) registers[$first],
                            $(out(reg32) registers[$next],)*
                            in(reg32) address,
                            options(nostack),
                        );
                    } else {
                        asm!(
                            concat!(
                                "ldmatrix.sync.aligned.m8n8.x", $count, ".shared.b16 {{{", $first, "}",
                                $(", {", $next, "}",)* "}}, [{", $address, "}];",
                            ),
                            out(reg32) registers[$first],
                            $(out(reg32) registers[$next],)*
                            in(reg32) address,
                            options(nostack),
                        );
                    }
                }
                registers
            }

            #[inline(always)]
            unsafe fn store<T: Pod, const TRANSPOSED: bool>(
                self,
                base: *mut T,
                _len: usize,
                index: usize,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    let address = shared_address(base.add(index));
                    if TRANSPOSED {
                        asm!(
                            concat!(
                                "stmatrix.sync.aligned.m8n8.x", $count, ".trans.shared.b16 [{", $address,
                                "}], {{{", $first, "}", $(", {", $next, "}",)* "}};",
                            ),
                            in(reg32) self[$first],
                            $(in(reg32) self[$next],)*
                            in(reg32) address,
                            options(nostack),
                        );
                    } else {
                        asm!(
                            concat!(
                                "stmatrix.sync.aligned.m8n8.x", $count, ".shared.b16 [{", $address,
                                "}], {{{", $first, "}", $(", {", $next, "}",)* "}};",
                            ),
                            in(reg32) self[$first],
                            $(in(reg32) self[$next],)*
                            in(reg32) address,
                            options(nostack),
                        );
                    }
                }
            }
        }
    )*};
}
matrices! {
    1: 1 [0];
    2: 2 [0 1];
    4: 4 [0 1 2 3];
}
