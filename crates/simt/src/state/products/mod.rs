//! Products of warpgroups on the tensor cores, which run asynchronously between issue and wait (PTX
//! ISA, section "Asynchronous Warpgroup Level Matrix Instructions").

mod arithmetic;
mod fragments;
mod operand;
mod queue;
mod rows;

pub use operand::{ElementType, Major, Operand, Wgmma};

pub(crate) use fragments::Fragments;
pub(crate) use operand::{Descriptor, WARPS};
pub(crate) use queue::{Product, ProductQueue};
pub(crate) use rows::Rows;
