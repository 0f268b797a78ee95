//! What the attribute leaves in its place: an entry for the GPU, a descriptor for the host.

use crate::parse::{Bounds, KernelFunction, Parameter, Passing};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

pub fn expand(kernel: &KernelFunction) -> TokenStream {
    let entry = device_entry(kernel);
    let descriptor = host_descriptor(kernel);
    quote! { #entry #descriptor }
}

/// The kernel's own code as a nested function, so that its parameters keep the types that its
/// source gives them.
fn body(kernel: &KernelFunction) -> TokenStream {
    let signature = &kernel.function.sig;
    let (unsafety, inputs, block) = (&signature.unsafety, &signature.inputs, &kernel.function.block);
    quote! {
        #[inline(always)]
        #unsafety fn body(#inputs) #block
    }
}

fn device_entry(kernel: &KernelFunction) -> TokenStream {
    let KernelFunction { function, parameters, .. } = kernel;
    let (attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let flat = parameters.iter().map(flat_parameter);
    let rebuilt = parameters.iter().map(rebuilt_argument);
    let body = body(kernel);
    let annotation = annotation(kernel);
    quote! {
        #[cfg(target_arch = "nvptx64")]
        const _: () = { #annotation };

        #(#attributes)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        #visibility unsafe extern "ptx-kernel" fn #name(#(#flat),*) {
            #body
            // SAFETY: the host passes a pointer and a length of one buffer for each view, and
            // keeps the kernel's own requirements: `Kernel::run` and the launch say so.
            #[allow(unused_unsafe)]
            unsafe { body(#(#rebuilt),*) }
        }
    }
}

fn length_name(parameter: &Parameter) -> proc_macro2::Ident {
    format_ident!("{}_len", parameter.name)
}

fn flat_parameter(parameter: &Parameter) -> TokenStream {
    let Parameter { name, ty, passing, .. } = parameter;
    let length = length_name(parameter);
    match passing {
        Passing::Global => quote! { #name: *const <#ty as ::cuda_std::global::View>::Element, #length: usize },
        Passing::GlobalMut => quote! { #name: *mut <#ty as ::cuda_std::global::View>::Element, #length: usize },
        Passing::Scalar => quote! { #name: #ty },
    }
}

fn rebuilt_argument(parameter: &Parameter) -> TokenStream {
    let Parameter { name, ty, passing, .. } = parameter;
    let length = length_name(parameter);
    match passing {
        Passing::Global | Passing::GlobalMut => quote! { <#ty>::from_raw_parts(#name, #length) },
        Passing::Scalar => quote! { #name },
    }
}

/// The note that the builder reads from the section `.tilewright.kernel`: what LLVM IR can say of
/// a kernel and Rust cannot.
fn annotation(kernel: &KernelFunction) -> TokenStream {
    let mut text = kernel.function.sig.ident.to_string();
    let Bounds { max_threads, min_blocks, max_registers } = kernel.bounds;
    for (key, value) in [("maxntid", max_threads), ("minctasm", min_blocks), ("maxnreg", max_registers)] {
        if let Some(value) = value {
            text.push_str(&format!("|{key}={value}"));
        }
    }
    let letters = kernel.parameters.iter().map(|parameter| match parameter.passing {
        Passing::Global => "r,v",
        Passing::GlobalMut => "w,v",
        Passing::Scalar => "v",
    });
    text.push_str(&format!("|params={}", letters.collect::<Vec<_>>().join(",")));
    let bytes = Literal::byte_string(text.as_bytes());
    let length = text.len();
    quote! {
        #[used]
        #[unsafe(link_section = ".tilewright.kernel")]
        static ANNOTATION: [u8; #length] = *#bytes;
    }
}

fn host_descriptor(kernel: &KernelFunction) -> TokenStream {
    let KernelFunction { function, parameters, .. } = kernel;
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let documentation = function.attrs.iter().filter(|attribute| {
        attribute.path().is_ident("doc") || attribute.path().is_ident("cfg") || attribute.path().is_ident("deprecated")
    });
    let types = parameters.iter().map(|parameter| &parameter.ty);
    let names = parameters.iter().map(|parameter| &parameter.name).collect::<Vec<_>>();
    let text = name.to_string();
    let bounds = bounds(&kernel.bounds);
    let body = body(kernel);
    let lints = function.attrs.iter().filter(|attribute| {
        attribute.path().is_ident("allow") || attribute.path().is_ident("expect")
    });
    let safe = (!kernel.is_unsafe()).then(|| {
        quote! {
            // SAFETY: (1) the kernel is a safe function: whatever it is given, it is defined.
            unsafe impl ::cuda_std::kernel::SafeKernel for #name {}
        }
    });
    quote! {
        #(#documentation)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name;

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #(#lints)*
            #body

            impl ::cuda_std::kernel::Kernel for #name {
                type Params = (#(#types,)*);
                const NAME: &'static str = #text;
                const BOUNDS: ::cuda_std::kernel::LaunchBounds = #bounds;

                unsafe fn run((#(#names,)*): Self::Params) {
                    // SAFETY: (1) and (2) of `Kernel::run` are the caller's.
                    #[allow(unused_unsafe)]
                    unsafe { body(#(#names),*) }
                }
            }
            #safe
        };
    }
}

fn bounds(bounds: &Bounds) -> TokenStream {
    let option = |value: Option<u32>| match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    };
    let (threads, blocks, registers) =
        (option(bounds.max_threads), option(bounds.min_blocks), option(bounds.max_registers));
    quote! { ::cuda_std::kernel::LaunchBounds::new(#threads, #blocks, #registers) }
}
