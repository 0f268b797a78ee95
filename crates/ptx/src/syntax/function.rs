//! Kernels and functions.

use super::statement::pragma;
use super::{Declaration, Linkage, Statement, list};
use crate::words::words;
use std::fmt;

words! {
    /// A kernel or a function.
    FunctionKind { Entry = "entry", Function = "func", }

    /// A bound or a property of a function.
    BoundKind {
        MaxThreads = "maxntid", RequiredThreads = "reqntid", MinBlocks = "minnctapersm", MaxBlocks = "maxnctapersm",
        MaxRegisters = "maxnreg", ClusterBlocks = "reqnctapercluster", ExplicitCluster = "explicitcluster",
        MaxClusterRank = "maxclusterrank", NoReturn = "noreturn",
    }
}

/// A kernel, a function, or the declaration of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Who sees the name.
    pub linkage: Option<Linkage>,
    /// Whether it is a kernel.
    pub kind: FunctionKind,
    /// Its name.
    pub name: Box<str>,
    /// Results, parameters and bounds.
    pub signature: Signature,
    /// Its statements; none for a declaration.
    pub body: Option<Vec<Statement>>,
}

/// What a function takes and returns.
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

impl fmt::Display for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(linkage) = self.linkage {
            write!(formatter, ".{} ", linkage.text())?;
        }
        write!(formatter, ".{} ", self.kind.text())?;
        self.signature.write(formatter, &self.name)?;
        let Some(body) = &self.body else {
            return formatter.write_str(";");
        };
        formatter.write_str("\n{\n")?;
        for statement in body {
            writeln!(formatter, "{statement}")?;
        }
        formatter.write_str("}")
    }
}
