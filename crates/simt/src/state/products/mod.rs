//! Products of warpgroups on the tensor cores, which run asynchronously between issue and wait (PTX
//! ISA, section "Asynchronous Warpgroup Level Matrix Instructions").

mod arithmetic;
mod fragments;
mod operand;
mod queue;

pub use operand::{ElementType, Major, Operand, Wgmma};

pub(crate) use fragments::Fragments;
pub(crate) use operand::Descriptor;
pub(crate) use queue::{Product, ProductQueue, WARPS};
