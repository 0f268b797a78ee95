//! `#[device_function]`: marks a function's loops for the simulator's counters.

use crate::rounds::with_rounds;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

/// The unchanged function for the GPU, and with marked loops elsewhere. It may be a method.
pub fn expand(arguments: &TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        let message = "`#[device_function]` takes no arguments";
        return Err(Error::new_spanned(arguments, message));
    }
    let function = syn::parse2::<ItemFn>(item)?;
    if let Some(token) = function.sig.constness {
        let message =
            "a `const fn` cannot have `#[device_function]`, which marks loops at run time";
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
