//! Products of a warp on tensor cores, from compute capability 8.0.
//!
//! A warp multiplies A, of `M` x `K` elements, with B, of `K` x `N`, and adds the product to the accumulators C, of
//! `M` x `N`. Each lane holds a fragment of each matrix: [`A`], [`B`] and [`C`] have element type, rows and columns
//! in their types, and [`C::add_product`] exists for the shapes that tensor cores have.
//!
//! | A, B | C | M x N x K | from |
//! |---|---|---|---|
//! | `f16` | `f32`, `f16` | 16 x 8 x 8, 16 x 8 x 16 | 8.0 |
//! | `bf16` | `f32` | 16 x 8 x 8, 16 x 8 x 16 | 8.0 |
//! | [`Tf32`] | `f32` | 16 x 8 x 4, 16 x 8 x 8 | 8.0 |
//! | `i8` or `u8`, each | `i32`, wrapping | 8 x 8 x 16, 16 x 8 x 16, 16 x 8 x 32 | 8.0 |
//! | `f64` | `f64` | 8 x 8 x 4 | 8.0 |
//! | `f64` | `f64` | 16 x 8 x 4, 16 x 8 x 8, 16 x 8 x 16 | 9.0 |
//!
//! Other shapes do not compile:
//!
//! ```compile_fail,E0277
//! # use cuda_std::mma::{A, B, C};
//! # fn multiply(a: A<f32, 16, 8>, b: B<f32, 8, 8>) {}
//! ```
//!
//! Fill fragments element by element, from anywhere ([`A::from_fn`], [`A::place`]), or from shared memory with one
//! instruction ([`A::load`], `ldmatrix`). 16-bit outputs go to shared memory likewise ([`C::store`], `stmatrix`, from
//! 9.0).
//!
//! ```
//! use cuda_std::mma::{A, B, C};
//! use cuda_std::prelude::*;
//! use half::f16;
//!
//! /// Multiplies 16 x 16 by 16 x 8 elements. A and the product are row-major, B is column-major.
//! ///
//! /// # Safety
//! /// 1. A block is one warp; the views are of the sizes above.
//! #[kernel(arch = "sm_80")]
//! pub unsafe fn product(a: Global<f16>, b: Global<f16>, c: GlobalMut<f32>) {
//!     // SAFETY: the element is in the matrix, and the view has all its elements: the caller's contract.
//!     let a = A::<f16, 16, 16>::from_fn(|row, k| unsafe { a.load(row * 16 + k) });
//!     // SAFETY: the element is in the matrix, and the view has all its elements: the caller's contract.
//!     let b = B::<f16, 16, 8>::from_fn(|k, column| unsafe { b.load(column * 16 + k) });
//!     // SAFETY: the block is one warp, and its threads have not diverged.
//!     let product = unsafe { C::<f32, 16, 8>::zero().add_product(a, b) };
//!     for i in 0..C::<f32, 16, 8>::LEN {
//!         let (row, column) = C::<f32, 16, 8>::place(i);
//!         // SAFETY: the element is in the matrix, and only this lane writes it.
//!         unsafe { c.store(row * 8 + column, product.get(i)) };
//!     }
//! }
//! ```
//!
//! All 32 lanes of the warp make each call of a product, a load or a store together. If one is missing, PTX leaves
//! the behaviour undefined (`.sync.aligned`), so these functions are unsafe; the simulator reports it.
//!
//! Tensor cores do not round as in IEEE 754. The simulator computes the bits of the device that it simulates
//! (`docs/tensor_cores.md`). (PTX ISA, 9.7.13, "Warp Level Matrix Multiply-Accumulate Instructions".)

mod element;
mod fragment;
pub(crate) mod matrices;
mod transfer;

pub use element::{Element, Tf32};
pub use fragment::{A, B, C};
pub(crate) use matrices::{MatrixRegisters, Multiply};
