//! Parameters and results of functions.

use super::variable::Declaration;
use super::written::list;
use crate::words::words;
use std::fmt;

words! {
    /// A bound or a property of a function.
    BoundKind {
        MaxThreads = "maxntid", RequiredThreads = "reqntid", MinBlocks = "minnctapersm", MaxBlocks = "maxnctapersm",
        MaxRegisters = "maxnreg", ClusterBlocks = "reqnctapercluster", ExplicitCluster = "explicitcluster",
        MaxClusterRank = "maxclusterrank", NoReturn = "noreturn",
    }
}

/// The parameters and results of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// Its results.
    pub results: Vec<Declaration>,
    /// Its parameters.
    pub parameters: Vec<Declaration>,
    /// Its bounds.
    pub bounds: Vec<Bound>,
}

/// A bound with its numbers, or hints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A bound: one to three numbers, or none.
    Numbers(BoundKind, Vec<u64>),
    /// Hints for the assembler.
    Pragma(Vec<Box<str>>),
}

impl Signature {
    /// Writes it around a name.
    pub(super) fn write(&self, formatter: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        if !self.results.is_empty() {
            formatter.write_str("(")?;
            list(formatter, &self.results)?;
            formatter.write_str(") ")?;
        }
        write!(formatter, "{name}(")?;
        list(formatter, &self.parameters)?;
        formatter.write_str(")")?;
        self.bounds
            .iter()
            .try_for_each(|bound| write!(formatter, " {bound}"))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbers(kind, numbers) => {
                write!(formatter, ".{}", kind.text())?;
                if !numbers.is_empty() {
                    formatter.write_str(" ")?;
                }
                list(formatter, numbers)
            }
            Self::Pragma(hints) => {
                pragma(formatter, hints)?;
                formatter.write_str(";")
            }
        }
    }
}

/// Writes `.pragma` with its strings.
pub(super) fn pragma(formatter: &mut fmt::Formatter<'_>, hints: &[Box<str>]) -> fmt::Result {
    let quoted: Vec<String> = hints.iter().map(|hint| format!("\"{hint}\"")).collect();
    formatter.write_str(".pragma ")?;
    list(formatter, &quoted)
}
