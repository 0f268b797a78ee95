//! What the attribute accepts.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, ItemFn, LitInt, Pat, Result, ReturnType, Token, Type};

/// The attribute's arguments.
#[derive(Default)]
pub struct Bounds {
    pub max_threads: Option<u32>,
    pub min_blocks: Option<u32>,
    pub max_registers: Option<u32>,
}

struct Argument {
    name: Ident,
    value: LitInt,
}

impl syn::parse::Parse for Argument {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            name,
            value: input.parse()?,
        })
    }
}

impl Bounds {
    pub fn from_tokens(tokens: TokenStream) -> Result<Self> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut bounds = Self::default();
        for Argument { name, value } in arguments {
            let place = match name.to_string().as_str() {
                "max_threads" => &mut bounds.max_threads,
                "min_blocks" => &mut bounds.min_blocks,
                "max_registers" => &mut bounds.max_registers,
                _ => {
                    let message = "expected `max_threads`, `min_blocks` or `max_registers`";
                    return Err(Error::new(name.span(), message));
                }
            };
            if place.replace(value.base10_parse()?).is_some() {
                return Err(Error::new(name.span(), "given twice"));
            }
        }
        if let Some(threads) = bounds.max_threads
            && !(1..=1024).contains(&threads)
        {
            return Err(Error::new(
                proc_macro2::Span::call_site(),
                "`max_threads` must lie between 1 and 1024, the most threads that a block can have",
            ));
        }
        Ok(bounds)
    }
}

/// How a parameter crosses from the host to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// `Global<T>`: a read-only pointer and a length.
    Global,
    /// `GlobalMut<T>`: a pointer that nothing else overlaps, and a length.
    GlobalMut,
    /// By value.
    Scalar,
}

pub struct Parameter {
    pub name: Ident,
    pub ty: Type,
    pub passing: Passing,
}

pub struct KernelFunction {
    pub function: ItemFn,
    pub parameters: Vec<Parameter>,
    pub bounds: Bounds,
}

impl KernelFunction {
    pub fn new(function: ItemFn, bounds: Bounds) -> Result<Self> {
        check_signature(&function)?;
        let parameters = function
            .sig
            .inputs
            .iter()
            .map(parameter)
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            function,
            parameters,
            bounds,
        })
    }

    pub fn is_unsafe(&self) -> bool {
        self.function.sig.unsafety.is_some()
    }
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if !signature.generics.params.is_empty() {
        return Err(Error::new(
            signature.generics.span(),
            "a kernel is one PTX entry and cannot be generic: write one kernel for each type that calls a common `#[inline(always)]` function",
        ));
    }
    if !matches!(signature.output, ReturnType::Default) {
        return Err(Error::new(
            signature.output.span(),
            "a kernel returns nothing: write results through a `GlobalMut`",
        ));
    }
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new(asyncness.span(), "a kernel cannot be `async`"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new(abi.span(), "`#[kernel]` chooses the ABI itself"));
    }
    if signature.inputs.len() > 12 {
        return Err(Error::new(signature.inputs.span(), "a kernel has at most 12 parameters"));
    }
    Ok(())
}

fn parameter(argument: &FnArg) -> Result<Parameter> {
    let FnArg::Typed(argument) = argument else {
        return Err(Error::new(argument.span(), "a kernel is a free function"));
    };
    let Pat::Ident(pattern) = &*argument.pat else {
        return Err(Error::new(argument.pat.span(), "a kernel's parameter is a plain name"));
    };
    Ok(Parameter {
        name: pattern.ident.clone(),
        ty: (*argument.ty).clone(),
        passing: passing(&argument.ty),
    })
}

fn passing(ty: &Type) -> Passing {
    let Type::Path(path) = ty else {
        return Passing::Scalar;
    };
    match path.path.segments.last() {
        Some(last) if last.ident == "Global" => Passing::Global,
        Some(last) if last.ident == "GlobalMut" => Passing::GlobalMut,
        _ => Passing::Scalar,
    }
}
