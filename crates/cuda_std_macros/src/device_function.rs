//! `#[device_function]`: a function whose loops the simulator's counters know.

use crate::rounds::with_rounds;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

/// The function as it is for the GPU, and with its loops marked elsewhere. It may be a method.
pub fn expand(arguments: &TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        let message = "`#[device_function]` has no arguments";
        return Err(Error::new_spanned(arguments, message));
    }
    let function = syn::parse2::<ItemFn>(item)?;
    if let Some(token) = function.sig.constness {
        let message = "the rounds of loops are told apart when a kernel runs: a `const fn` does \
                       without `#[device_function]`";
        return Err(Error::new_spanned(token, message));
    }
    let marked = ItemFn {
        block: Box::new(with_rounds(&function.block)),
        ..function.clone()
    };
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #function

        #[cfg(not(target_arch = "nvptx64"))]
        #marked
    })
}
