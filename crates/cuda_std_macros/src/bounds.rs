//! The attribute's arguments.

use crate::compiler::device_library;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Result, Token, parenthesized, token};

/// Maximum threads per block and registers per thread, on every GPU (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const MAX_THREADS: u32 = 1024;
const MAX_REGISTERS: u32 = 255;

/// Maximum blocks per cluster that every GPU with clusters supports (CUDA C++ Programming Guide,
/// "Thread Block Clusters").
const MAX_CLUSTER_BLOCKS: u32 = 8;

/// The architectures that kernels are compiled for, as in `cuda_builder`, and whether each has
/// clusters and dependent launches.
const ARCHITECTURES: [(&str, bool); 6] = [
    ("sm_75", false),
    ("sm_80", false),
    ("sm_90", true),
    ("sm_90a", true),
    ("sm_100", true),
    ("sm_120", true),
];

/// The attribute's arguments: launch bounds and requirements.
#[derive(Default)]
pub struct Bounds {
    pub max_threads: Option<Bound>,
    pub min_blocks: Option<Bound>,
    pub max_registers: Option<Bound>,
    /// Whether launches are cooperative.
    pub cooperative: bool,
    /// Whether launches may start before the preceding kernel has ended.
    pub dependent_launch: bool,
    /// The oldest architecture with the kernel, such as `sm_90`, or the only one.
    pub arch: Option<String>,
    /// Blocks in a cluster, in x, y and z.
    pub cluster: Option<[u32; 3]>,
}

/// A launch bound.
#[derive(Clone)]
pub enum Bound {
    /// A literal of the source, already checked.
    Number(u32),
    /// A constant of type u32, and its maximum.
    Constant { value: Box<Expr>, most: u32 },
}

impl Bound {
    /// The number as a constant of type u32.
    pub fn value(&self) -> TokenStream {
        let cuda_std = device_library();
        match self {
            Self::Number(number) => quote! { #number },
            Self::Constant { value, most } => {
                quote! { #cuda_std::annotation::launch_bound(#value, #most) }
            }
        }
    }
}

/// `NAME = VALUE`, or `NAME` alone.
struct Argument {
    name: Ident,
    value: Option<Value>,
}

enum Value {
    Number(LitInt),
    Constant(Expr),
    Text(LitStr),
    Tuple(Punctuated<LitInt, Token![,]>, Span),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { name, value })
    }
}

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) {
            return input.parse().map(Self::Text);
        }
        if input.peek(token::Paren) {
            let content;
            let span = parenthesized!(content in input).span.join();
            let numbers = Punctuated::parse_terminated(&content)?;
            return Ok(Self::Tuple(numbers, span));
        }
        let mut value = input.parse()?;
        // Another macro's argument, passed on as a group.
        while let Expr::Group(group) = value {
            value = *group.expr;
        }
        Ok(match value {
            Expr::Lit(ExprLit {
                lit: Lit::Int(number),
                ..
            }) => Self::Number(number),
            value => Self::Constant(value),
        })
    }
}

impl Value {
    fn span(&self) -> Span {
        match self {
            Self::Number(number) => number.span(),
            Self::Constant(value) => value.span(),
            Self::Text(text) => text.span(),
            Self::Tuple(_, span) => *span,
        }
    }
}

impl Bounds {
    pub fn from_tokens(tokens: TokenStream) -> Result<Self> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut bounds = Self::default();
        for argument in &arguments {
            if bounds.replace(argument)? {
                return Err(Error::new(argument.name.span(), "given twice"));
            }
        }
        let of_hopper = |it: &&Argument| it.name == "cluster" || it.name == "dependent_launch";
        if let Some(argument) = arguments.iter().find(of_hopper) {
            bounds.check_is_from_hopper_on(&argument.name)?;
        }
        Ok(bounds)
    }

    /// Sets an argument, and returns whether it was already set.
    fn replace(&mut self, Argument { name, value }: &Argument) -> Result<bool> {
        let place = match name.to_string().as_str() {
            "cooperative" => return flag(name, value.as_ref(), &mut self.cooperative),
            "dependent_launch" => return flag(name, value.as_ref(), &mut self.dependent_launch),
            "arch" => {
                return Ok(self
                    .arch
                    .replace(architecture(name, value.as_ref())?)
                    .is_some());
            }
            "cluster" => {
                return Ok(self
                    .cluster
                    .replace(cluster(name, value.as_ref())?)
                    .is_some());
            }
            "max_threads" => &mut self.max_threads,
            "min_blocks" => &mut self.min_blocks,
            "max_registers" => &mut self.max_registers,
            _ => {
                let message = "expected `max_threads`, `min_blocks`, `max_registers`, \
                               `cooperative`, `dependent_launch`, `arch` or `cluster`";
                return Err(Error::new(name.span(), message));
            }
        };
        match value {
            Some(Value::Number(value)) => {
                let number = Bound::Number(bound(name, value)?);
                Ok(place.replace(number).is_some())
            }
            Some(Value::Constant(value)) => {
                let (value, most) = (Box::new(value.clone()), most(name));
                Ok(place.replace(Bound::Constant { value, most }).is_some())
            }
            other => Err(no_value(name, other.as_ref(), "128")),
        }
    }

    fn check_is_from_hopper_on(&self, name: &Ident) -> Result<()> {
        let arch = self.arch.as_deref();
        let is_known = |(name, from_hopper): &(&str, bool)| *from_hopper && Some(*name) == arch;
        if ARCHITECTURES.iter().any(is_known) {
            return Ok(());
        }
        let message = match name == "cluster" {
            true => "clusters need `arch = \"sm_90\"` or a later one",
            false => "dependent launches need `arch = \"sm_90\"` or a later one",
        };
        Err(Error::new(name.span(), message))
    }
}

fn flag(name: &Ident, value: Option<&Value>, place: &mut bool) -> Result<bool> {
    match value {
        None => Ok(std::mem::replace(place, true)),
        Some(value) => {
            let message = format!("`{name}` takes no value");
            Err(Error::new(value.span(), message))
        }
    }
}

/// The error for an argument without a value, or with a value unlike `example`.
fn no_value(name: &Ident, value: Option<&Value>, example: &str) -> Error {
    let span = value.map_or(name.span(), Value::span);
    Error::new(
        span,
        format!("`{name}` needs a value, as in `{name} = {example}`"),
    )
}

/// The maximum of the bound `name`.
fn most(name: &Ident) -> u32 {
    match name.to_string().as_str() {
        "max_threads" => MAX_THREADS,
        "max_registers" => MAX_REGISTERS,
        _ => u32::MAX,
    }
}

/// Checks the number of a bound.
fn bound(name: &Ident, value: &LitInt) -> Result<u32> {
    let number = positive(name, value)?;
    if name == "max_threads" && number > MAX_THREADS {
        let message =
            format!("`max_threads` must be at most {MAX_THREADS}: no block has more threads");
        return Err(Error::new(value.span(), message));
    }
    if name == "max_registers" && number > MAX_REGISTERS {
        let message = format!(
            "`max_registers` must be at most {MAX_REGISTERS}: no thread has more registers"
        );
        return Err(Error::new(value.span(), message));
    }
    Ok(number)
}

fn positive(name: &Ident, value: &LitInt) -> Result<u32> {
    match value.base10_parse()? {
        0 => Err(Error::new(
            value.span(),
            format!("`{name}` must be at least 1"),
        )),
        number => Ok(number),
    }
}

fn architecture(name: &Ident, value: Option<&Value>) -> Result<String> {
    let Some(Value::Text(text)) = value else {
        return Err(no_value(name, value, "\"sm_90a\""));
    };
    let arch = text.value();
    if ARCHITECTURES.iter().any(|(known, _)| *known == arch) {
        return Ok(arch);
    }
    let known = ARCHITECTURES.map(|(name, _)| name).join(", ");
    Err(Error::new(
        text.span(),
        format!("`arch` must be one of {known}"),
    ))
}

fn cluster(name: &Ident, value: Option<&Value>) -> Result<[u32; 3]> {
    let Some(Value::Tuple(numbers, span)) = value else {
        return Err(no_value(name, value, "(2, 1, 1)"));
    };
    let blocks: Vec<u32> = numbers
        .iter()
        .map(|number| positive(name, number))
        .collect::<Result<_>>()?;
    let blocks: [u32; 3] = blocks
        .try_into()
        .map_err(|_| Error::new(*span, "`cluster` needs three numbers of blocks: x, y and z"))?;
    let all = blocks
        .iter()
        .map(|&blocks| u64::from(blocks))
        .try_fold(1, u64::checked_mul);
    if all.is_none_or(|all| all > u64::from(MAX_CLUSTER_BLOCKS)) {
        let message = format!(
            "a cluster must have at most {MAX_CLUSTER_BLOCKS} blocks, the most that every GPU with clusters supports"
        );
        return Err(Error::new(*span, message));
    }
    Ok(blocks)
}
