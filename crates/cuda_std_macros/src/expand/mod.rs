//! The attribute's expansion: an entry for the GPU, a descriptor for the host. If the target is known, the expansion
//! has only that target's part, so the compiler does not parse the other.
//!
//! Names in the kernel's crate cannot shadow this code: paths begin at crates in the compiler's arguments
//! ([`device_library`](crate::compiler::device_library)), and primitive types at `core`.

mod common;
mod device;
mod host;

use crate::compiler::Target;
use crate::parse::KernelFunction;
use proc_macro2::TokenStream;
use quote::quote;

pub fn expand(kernel: &KernelFunction) -> TokenStream {
    let target = Target::of_compiler();
    let entry = target.may_be_gpu().then(|| device::entry(kernel));
    let descriptor = target.may_be_host().then(|| host::descriptor(kernel));
    quote! { #entry #descriptor }
}
