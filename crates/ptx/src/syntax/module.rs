//! Modules.

use super::function::{Function, FunctionKind};
use super::variable::Declaration;
use super::written::list;
use std::fmt;

/// A PTX module. It is read by `parse`, and prints as PTX of the same meaning, without comments.
///
/// ```
/// let text = "
///     .version 7.0
///     .target sm_75
///     .address_size 64
///     .visible .entry nothing() { ret; }
/// ";
/// let module: ptx::Module = text.parse()?;
/// assert_eq!(module.kernels().next().unwrap().name.as_ref(), "nothing");
/// assert_eq!(module.to_string().parse::<ptx::Module>()?, module);
/// # Ok::<(), ptx::ReadError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The version of PTX, major and minor.
    pub version: (u32, u32),
    /// The architecture, and options.
    pub target: Vec<Box<str>>,
    /// Bits of an address; 32 if the module does not state them.
    pub address_size: Option<u64>,
    /// The items of the module, in order.
    pub items: Vec<Item>,
}

/// A part of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// Variables of the module.
    Declaration(Declaration),
    /// A kernel or a function.
    Function(Function),
    /// A source file.
    File(File),
    /// Debugging information.
    Section(Section),
}

/// A source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its number in `.loc`.
    pub number: u64,
    /// Its path.
    pub path: Box<str>,
    /// Its time and its size.
    pub stamp: Option<(u64, u64)>,
}

/// Debugging information, as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its name, with a dot.
    pub name: Box<str>,
    /// Its tokens.
    pub tokens: Vec<Box<str>>,
}

impl Module {
    /// The kernels that have a body.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions()
            .filter(|it| it.kind == FunctionKind::Entry && it.body.is_some())
    }

    /// The kernels and functions, among them declarations.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some(function),
            _ => None,
        })
    }

    /// The variables of the module.
    pub fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.items.iter().filter_map(|item| match item {
            Item::Declaration(declaration) => Some(declaration),
            _ => None,
        })
    }
}

impl fmt::Display for Module {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        write!(formatter, ".version {major}.{minor}\n.target ")?;
        list(formatter, &self.target)?;
        formatter.write_str("\n")?;
        if let Some(bits) = self.address_size {
            writeln!(formatter, ".address_size {bits}")?;
        }
        self.items
            .iter()
            .try_for_each(|item| writeln!(formatter, "{item}"))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declaration(declaration) => write!(formatter, "{declaration};"),
            Self::Function(function) => write!(formatter, "{function}"),
            Self::File(file) => {
                write!(formatter, ".file {} \"{}\"", file.number, file.path)?;
                match file.stamp {
                    Some((time, size)) => write!(formatter, ", {time}, {size}"),
                    None => Ok(()),
                }
            }
            Self::Section(section) => {
                write!(
                    formatter,
                    ".section {} {{\n{}\n}}",
                    section.name,
                    section.tokens.join(" ")
                )
            }
        }
    }
}
