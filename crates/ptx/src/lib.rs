//! Reads PTX, and runs it on the simulator.
//!
//! [`Module`] is a module as a value: text is read by `parse`, and printed by [`Display`](std::fmt::Display). Each
//! instruction has a type of its family with typed modifiers ([`Operation`]). Instructions that this crate does not
//! know are kept as text, [`Operation::Other`].
//!
//! ```
//! let text = "
//!     .version 7.0
//!     .target sm_75
//!     .address_size 64
//!     .visible .entry store_one(.param .u64 to)
//!     {
//!         .reg .b64 %rd<2>;
//!         ld.param.b64 %rd1, [to];
//!         st.global.b32 [%rd1], 1;
//!         ret;
//!     }
//! ";
//! let module: ptx::Module = text.parse()?;
//! let kernel = module.kernels().next().unwrap();
//! assert_eq!(kernel.body.as_ref().unwrap()[2].to_string(), "\tst.global.b32 [%rd1], 1;");
//! # Ok::<(), ptx::ReadError>(())
//! ```

mod decode;
mod error;
mod flat;
mod graph;
mod lexer;
mod machine;
mod numbers;
mod operations;
mod parser;
#[cfg(test)]
mod printed;
mod sources;
mod syntax;
mod words;

pub use decode::{DecodeError, DecodeErrorKind, Program, ProgramError, coverage};
pub use error::{ReadError, ReadErrorKind};
pub use graph::{BasicBlock, Graph, UnknownLabel};
pub use lexer::{Token, tokens};
pub use machine::{ArgumentError, Kernel, KernelError, Kernels, Variables};
pub use operations::*;
pub use sources::{SourcePlace, Sources};
pub use syntax::*;
pub use words::{
    Absolute, Accumulate, Accuracy, Aligned, AtomicOperation, BarrierScope, BarrierStep,
    BulkCompletion, BulkGroup, Cache, CacheHint, Carry, ClusterStep, CombinePredicate, Comparison,
    CopyCache, DependentStep, Dimensions, Expect, FenceLevel, FenceOrder, FirstLevel,
    FlushSubnormal, FunnelShift, GlobalTarget, Half, LoadMode, MatchMode, MatrixCount,
    MatrixLayout, MatrixShape, MatrixTarget, Memory, Multicast, NoComplete, NoFlush, NoIncrement,
    NonCoherent, NotANumber, Order, Parity, PermuteMode, PolicyPriority, Prefetch, PrefetchLevel,
    ProxyKind, ReadOnlyWait, Rectify, Reduce, RegisterStep, Rounding, Saturate, SaturateFinite,
    Scope, SecondLevel, ShiftAmount, ShiftRange, ShuffleMode, SignXor, Sync, TensorMapPrefetch,
    TestProperty, To, ToShared, Transposed, Type, Uniform, Vector, VoteMode, WarpgroupShape,
};
