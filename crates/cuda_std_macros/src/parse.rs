//! What the attribute accepts.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, Ident, ItemFn, LitInt, Pat, PathArguments, Result, ReturnType,
    Signature, Token, Type,
};

/// The most threads that a block can have, and registers that a thread can have, on every GPU
/// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MAX_THREADS: u32 = 1024;
const MAX_REGISTERS: u32 = 255;

/// The most parameters that the host gives: `cuda_std` and the host library have tuples of as many.
const MAX_PARAMETERS: usize = 12;

/// The attribute's arguments.
#[derive(Default)]
pub struct Bounds {
    pub max_threads: Option<u32>,
    pub min_blocks: Option<u32>,
    pub max_registers: Option<u32>,
    /// Whether launches are cooperative.
    pub cooperative: bool,
}

/// `NAME = VALUE`, or `NAME` alone.
struct Argument {
    name: Ident,
    value: Option<LitInt>,
}

impl syn::parse::Parse for Argument {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { name, value })
    }
}

impl Bounds {
    pub fn from_tokens(tokens: TokenStream) -> Result<Self> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut bounds = Self::default();
        for Argument { name, value } in arguments {
            let is_given_twice = match value {
                Some(value) => {
                    let number = bound(&name, &value)?;
                    bounds.number(&name)?.replace(number).is_some()
                }
                None => std::mem::replace(bounds.flag(&name)?, true),
            };
            if is_given_twice {
                return Err(Error::new(name.span(), "given twice"));
            }
        }
        Ok(bounds)
    }

    /// The place of an argument with a value.
    fn number(&mut self, name: &Ident) -> Result<&mut Option<u32>> {
        match name.to_string().as_str() {
            "max_threads" => Ok(&mut self.max_threads),
            "min_blocks" => Ok(&mut self.min_blocks),
            "max_registers" => Ok(&mut self.max_registers),
            _ => {
                let message =
                    "expected `max_threads`, `min_blocks`, `max_registers` or `cooperative`";
                Err(Error::new(name.span(), message))
            }
        }
    }

    /// The place of an argument without a value.
    fn flag(&mut self, name: &Ident) -> Result<&mut bool> {
        if name == "cooperative" {
            return Ok(&mut self.cooperative);
        }
        self.number(name)?;
        let message = format!("`{name}` has a value, as in `{name} = 128`");
        Err(Error::new(name.span(), message))
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
    Texture { dimensions: usize },
    /// By value.
    Scalar,
}

pub struct Parameter {
    pub ty: Type,
    pub passing: Passing,
}

pub struct KernelFunction {
    pub function: ItemFn,
    /// What the host gives: all but the grid of a cooperative kernel.
    pub parameters: Vec<Parameter>,
    pub bounds: Bounds,
}

impl KernelFunction {
    pub fn new(function: ItemFn, bounds: Bounds) -> Result<Self> {
        check_signature(&function)?;
        let signature = &function.sig;
        let mut inputs = signature.inputs.iter();
        if bounds.cooperative && !inputs.next().is_some_and(is_grid) {
            return Err(Error::new(
                signature.ident.span(),
                "the first parameter of a cooperative kernel is its grid, as in `grid: GridGroup`",
            ));
        }
        let parameters = inputs
            .map(|argument| parameter(argument, &signature.ident))
            .collect::<Result<Vec<_>>>()?;
        if parameters.len() > MAX_PARAMETERS {
            return Err(Error::new(
                signature.inputs.span(),
                "a kernel has at most 12 parameters",
            ));
        }
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
    if has_name(&argument.ty, "GridGroup") {
        return Err(Error::new(
            argument.ty.span(),
            "a grid is the first parameter of a `#[kernel(cooperative)]`, and of no other; \
             `this_grid()` has its size and ranks",
        ));
    }
    let passing = passing(&argument.ty);
    if passing != Passing::Scalar {
        check_lifetimes(&argument.ty)?;
    }
    Ok(Parameter {
        ty: (*argument.ty).clone(),
        passing,
    })
}

/// A view ends with its launch, whatever the source would like.
fn check_lifetimes(ty: &Type) -> Result<()> {
    let Type::Path(path) = ty else { return Ok(()) };
    let last = path.path.segments.last();
    let Some(PathArguments::AngleBracketed(arguments)) = last.map(|last| &last.arguments) else {
        return Ok(());
    };
    for argument in &arguments.args {
        if let GenericArgument::Lifetime(lifetime) = argument
            && lifetime.ident != "_"
        {
            return Err(Error::new(
                lifetime.span(),
                "a view ends with its launch: leave the lifetime out",
            ));
        }
    }
    Ok(())
}

fn passing(ty: &Type) -> Passing {
    if has_name(ty, "Global") {
        Passing::Global
    } else if has_name(ty, "GlobalMut") {
        Passing::GlobalMut
    } else if has_name(ty, "Texture1d") {
        Passing::Texture { dimensions: 1 }
    } else if has_name(ty, "Texture2d") {
        Passing::Texture { dimensions: 2 }
    } else {
        Passing::Scalar
    }
}

/// Whether the parameter is the grid of a cooperative kernel.
fn is_grid(argument: &FnArg) -> bool {
    matches!(argument, FnArg::Typed(argument) if has_name(&argument.ty, "GridGroup"))
}

/// Whether a type is written with this name, after whatever path.
fn has_name(ty: &Type, name: &str) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident == name)
}
