//! What the attribute accepts.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, ItemFn, LitInt, Pat, Result, ReturnType, Signature, Token, Type};

/// The most threads that a block can have, and registers that a thread can have, on every GPU
/// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MAX_THREADS: u32 = 1024;
const MAX_REGISTERS: u32 = 255;

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
            let number = bound(&name, &value)?;
            let place = match name.to_string().as_str() {
                "max_threads" => &mut bounds.max_threads,
                "min_blocks" => &mut bounds.min_blocks,
                "max_registers" => &mut bounds.max_registers,
                _ => {
                    let message = "expected `max_threads`, `min_blocks` or `max_registers`";
                    return Err(Error::new(name.span(), message));
                }
            };
            if place.replace(number).is_some() {
                return Err(Error::new(name.span(), "given twice"));
            }
        }
        Ok(bounds)
    }
}

/// The number, if the machine has such a bound.
fn bound(name: &Ident, value: &LitInt) -> Result<u32> {
    let number = value.base10_parse()?;
    if number == 0 {
        return Err(Error::new(value.span(), format!("`{name}` is at least 1")));
    }
    if name == "max_threads" && number > MAX_THREADS {
        let message = format!(
            "`max_threads` is at most {MAX_THREADS}, the most threads that a block can have"
        );
        return Err(Error::new(value.span(), message));
    }
    if name == "max_registers" && number > MAX_REGISTERS {
        let message = format!(
            "`max_registers` is at most {MAX_REGISTERS}, the most registers that a thread can have"
        );
        return Err(Error::new(value.span(), message));
    }
    Ok(number)
}

/// How a parameter crosses from the host to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// `Global<T>`: a read-only pointer and a length.
    Global,
    /// `GlobalMut<T>`: a pointer and a length.
    GlobalMut,
    /// `Texture1d` or `Texture2d`: a handle.
    Texture,
    /// By value.
    Scalar,
}

pub struct Parameter {
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
            .map(|argument| parameter(argument, &function.sig.ident))
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
    check_not_generic(signature)?;
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
    if let Some(constness) = &signature.constness {
        return Err(Error::new(constness.span(), "a kernel cannot be `const`"));
    }
    if signature.inputs.len() > 12 {
        return Err(Error::new(
            signature.inputs.span(),
            "a kernel has at most 12 parameters",
        ));
    }
    Ok(())
}

fn check_not_generic(signature: &Signature) -> Result<()> {
    let generics = &signature.generics;
    let message = "a kernel is one PTX entry and cannot be generic: write one kernel for each type, \
                   which calls a common `#[inline(always)]` function";
    if !generics.params.is_empty() {
        return Err(Error::new(generics.span(), message));
    }
    match &generics.where_clause {
        Some(clause) => Err(Error::new(clause.span(), message)),
        None => Ok(()),
    }
}

fn parameter(argument: &FnArg, kernel: &Ident) -> Result<Parameter> {
    let FnArg::Typed(argument) = argument else {
        return Err(Error::new(argument.span(), "a kernel is a free function"));
    };
    if let Some(attribute) = argument.attrs.first() {
        return Err(Error::new(
            attribute.span(),
            "a kernel's parameter has no attributes",
        ));
    }
    let Pat::Ident(pattern) = &*argument.pat else {
        return Err(Error::new(
            argument.pat.span(),
            "a kernel's parameter is a plain name",
        ));
    };
    if pattern.ident == *kernel {
        return Err(Error::new(
            pattern.span(),
            "a kernel's parameter cannot have the kernel's name, which stands for the kernel on the host",
        ));
    }
    if matches!(&*argument.ty, Type::Reference(_) | Type::Ptr(_)) {
        return Err(Error::new(
            argument.ty.span(),
            "host memory is out of a kernel's reach: take a `Global<T>` to read device memory, a `GlobalMut<T>` to write it",
        ));
    }
    Ok(Parameter {
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
        Some(last) if last.ident == "Texture1d" || last.ident == "Texture2d" => Passing::Texture,
        _ => Passing::Scalar,
    }
}
