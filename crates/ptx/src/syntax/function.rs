//! Kernels and functions.

use super::signature::Signature;
use super::statement::Statement;
use super::variable::Linkage;
use crate::words::words;
use std::fmt;

words! {
    /// A kernel or a function.
    FunctionKind { Entry = "entry", Function = "func", }
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
