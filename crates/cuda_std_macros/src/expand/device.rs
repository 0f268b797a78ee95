//! The PTX entry of a kernel, and the data beside it.

use super::common::{argument_name, length_names};
use super::common::{attributes, body, grid, layout_of_value, parameter_check, signature};
use crate::bounds::{Bound, Bounds};
use crate::compiler::device_library;
use crate::parse::{KernelFunction, Parameter, Passing};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// The entry, on architectures that have it.
///
/// The builder declares the `cfg`. A host's compiler would warn about it, but never sees it.
pub fn entry(kernel: &KernelFunction) -> TokenStream {
    let entry = device_entry(kernel);
    let Some(arch) = &kernel.bounds.arch else {
        return entry;
    };
    let number = arch.trim_start_matches("sm_");
    quote! {
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #[cfg(cuda_arch_at_least = #number)]
            const _: () = { #entry };
        };
    }
}

fn device_entry(kernel: &KernelFunction) -> TokenStream {
    let KernelFunction {
        function,
        parameters,
        ..
    } = kernel;
    let (all_attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let conditions = attributes(kernel, &["cfg"]);
    let flat = parameters.iter().enumerate().map(flat_parameter);
    let rebuilt = parameters.iter().enumerate().map(rebuilt_argument);
    let body = body(kernel, &kernel.function.block);
    let grid = grid(kernel);
    let annotation = annotation(kernel);
    let signature = device_signature(kernel);
    let checks = parameters.iter().map(parameter_check);
    quote! {
        #(#conditions)*
        #[cfg(target_arch = "nvptx64")]
        const _: () = { #annotation #signature #(#checks)* };

        #(#all_attributes)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        #visibility unsafe extern "ptx-kernel" fn #name(#(#flat),*) {
            #body
            // SAFETY: for each view the host passes a pointer and a length of one buffer. Blocks of bytes are aligned
            // in parameter memory, which nothing writes. The host meets the kernel's own requirements: the contract
            // of `Kernel::run` and of the launch. It launches cooperative kernels cooperatively, one launch after
            // another.
            #[allow(unused_unsafe)]
            unsafe { __body(#grid #(#rebuilt),*) }
        }
    }
}

fn flat_parameter((index, parameter): (usize, &Parameter)) -> TokenStream {
    let cuda_std = device_library();
    let Parameter { ty, passing, .. } = parameter;
    let name = argument_name(index);
    match passing {
        Passing::View(view) => {
            let lengths = length_names(index, *view);
            let element = quote! { <#ty as #cuda_std::global::View>::Element };
            let pointer = if view.is_read_only {
                quote! { *const #element }
            } else {
                quote! { *mut #element }
            };
            quote! { #name: #pointer #(, #lengths: ::core::primitive::usize)* }
        }
        Passing::GridConstant => {
            quote! { #name: *const <#ty as #cuda_std::grid_constant::ByValue>::Value }
        }
        Passing::Block => quote! { #name: *const #ty },
        Passing::Texture { .. } | Passing::Scalar => quote! { #name: #ty },
    }
}

fn rebuilt_argument((index, parameter): (usize, &Parameter)) -> TokenStream {
    let Parameter { ty, passing, .. } = parameter;
    let name = argument_name(index);
    match passing {
        Passing::View(view) => {
            let lengths = length_names(index, *view);
            quote! { <#ty>::from_raw_parts(#name #(, #lengths)*) }
        }
        Passing::Block => quote! { *#name },
        Passing::GridConstant => quote! { <#ty>::from_raw(#name) },
        Passing::Texture { .. } | Passing::Scalar => quote! { #name },
    }
}

/// The note that the builder reads from the section `.tilewright.kernel`: properties of a kernel
/// that LLVM IR can express and Rust cannot.
fn annotation(kernel: &KernelFunction) -> TokenStream {
    let cuda_std = device_library();
    let mut note = Note::default();
    note.text += &kernel.name();
    note.push_bounds(&kernel.bounds);
    note.text += "|params=";
    for (index, Parameter { ty, passing, .. }) in kernel.parameters.iter().enumerate() {
        note.text += if index > 0 { "," } else { "" };
        match passing {
            Passing::View(view) => {
                // Views that a kernel writes must not be `noalias`: other threads of the launch
                // access the memory, and LLVM would keep its values in registers across barriers
                // and fences.
                note.text.push(if view.is_read_only { 'r' } else { 'p' });
                note.text += &",v".repeat(view.lengths);
            }
            Passing::Texture { .. } | Passing::Scalar => note.text.push('v'),
            // Only the compiler knows the layout of a parameter passed by value.
            Passing::GridConstant => {
                let layout = layout_of_value(ty);
                note.text.push('g');
                note.push(quote! { Layout(#layout) });
            }
            Passing::Block => {
                note.text.push('b');
                note.push(quote! { Layout(#cuda_std::signature::Layout::of::<#ty>()) });
            }
        }
    }
    note.into_static()
}

/// The note beside an entry: text, and values that only the compiler knows.
#[derive(Default)]
struct Note {
    /// Parts of an `Annotation`.
    parts: Vec<TokenStream>,
    /// What follows them.
    text: String,
}

impl Note {
    /// Adds `Part::#part`.
    fn push(&mut self, part: TokenStream) {
        let cuda_std = device_library();
        let before = std::mem::take(&mut self.text);
        self.parts
            .push(quote! { #cuda_std::annotation::Part::Text(#before) });
        self.parts
            .push(quote! { #cuda_std::annotation::Part::#part });
    }

    /// Adds the launch bounds.
    fn push_bounds(&mut self, bounds: &Bounds) {
        let numbers = [
            ("maxntid", &bounds.max_threads),
            ("minctasm", &bounds.min_blocks),
            ("maxnreg", &bounds.max_registers),
        ];
        for (key, bound) in numbers {
            match bound {
                None => {}
                Some(Bound::Number(value)) => self.text += &format!("|{key}={value}"),
                Some(bound) => {
                    self.text += &format!("|{key}=");
                    let value = bound.value();
                    self.push(quote! { Number(#value as ::core::primitive::usize) });
                }
            }
        }
        if let Some([x, y, z]) = bounds.cluster {
            self.text += &format!("|cluster_dim={x},{y},{z}");
        }
        if let Some(arch) = &bounds.arch {
            self.text += &format!("|arch={arch}");
        }
    }

    fn into_static(self) -> TokenStream {
        let cuda_std = device_library();
        let Self { parts, text } = self;
        if parts.is_empty() {
            return literal_annotation(&text);
        }
        quote! {
            const __NOTE: #cuda_std::annotation::Annotation = #cuda_std::annotation::Annotation(
                &[#(#parts,)* #cuda_std::annotation::Part::Text(#text)],
            );
            #[used]
            #[unsafe(link_section = ".tilewright.kernel")]
            static __ANNOTATION: [::core::primitive::u8; __NOTE.text_len()] = __NOTE.text();
        }
    }
}

fn literal_annotation(text: &str) -> TokenStream {
    let bytes = Literal::byte_string(text.as_bytes());
    let length = text.len();
    quote! {
        #[used]
        #[unsafe(link_section = ".tilewright.kernel")]
        static __ANNOTATION: [::core::primitive::u8; #length] = *#bytes;
    }
}

/// The static array beside the entry with its signature, which the host reads.
fn device_signature(kernel: &KernelFunction) -> TokenStream {
    let cuda_std = device_library();
    let symbol = format_ident!("__signature_of_{}", kernel.function.sig.ident);
    let signature = signature(kernel);
    quote! {
        const __SIGNATURE: #cuda_std::signature::Signature = #signature;
        #[used]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".global")]
        #[allow(non_upper_case_globals)]
        static #symbol: [::core::primitive::u8; __SIGNATURE.text_len()] = __SIGNATURE.text();
    }
}
