//! Variables: registers, parameters and memory.

use super::line::Line;
use super::operand::Operand;
use super::written::list;
use crate::words::{Memory, Type, Vector, words};
use std::fmt;

words! {
    /// Who sees a name.
    Linkage { Visible = "visible", Extern = "extern", Weak = "weak", Common = "common", }
}

/// Variables of one space and type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declaration {
    /// The line at which it begins.
    pub line: Line,
    /// Who sees them.
    pub linkage: Option<Linkage>,
    /// Their space.
    pub memory: Memory,
    /// Their alignment in bytes.
    pub alignment: Option<u64>,
    /// The number of elements of a vector.
    pub vector: Option<Vector>,
    /// Their type, or that of an element.
    pub of: Type,
    /// What a parameter points to.
    pub pointer: Option<Pointer>,
    /// The variables.
    pub variables: Vec<Variable>,
}

/// What a parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The space.
    pub memory: Option<Memory>,
    /// The alignment in bytes.
    pub alignment: Option<u64>,
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name; that of many registers without their numbers.
    pub name: Box<str>,
    /// How many registers there are, numbered from 0: `%r<5>`.
    pub count: Option<u64>,
    /// The lengths of an array; none if the launch or the initial values determine the length.
    pub dimensions: Vec<Option<u64>>,
    /// The initial value.
    pub initial: Option<Initial>,
}

impl Variable {
    /// The number of elements; none if it is unknown, or has more than 64 bits.
    ///
    /// If an array has no first length, the initial values determine it. Without these, the launch does, and the number
    /// is 0.
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        match self.dimensions.as_slice() {
            [None, of_row @ ..] => {
                let row = elements_of(of_row)?;
                self.initial_rows(row).checked_mul(row)
            }
            lengths => elements_of(lengths),
        }
    }

    /// The rows of this many elements that the initial values fill or begin.
    fn initial_rows(&self, row: u64) -> u64 {
        match &self.initial {
            Some(Initial::List(values)) if matches!(values.first(), Some(Initial::List(_))) => {
                values.len() as u64
            }
            Some(Initial::List(values)) => (values.len() as u64).div_ceil(row.max(1)),
            Some(_) => 1,
            None => 0,
        }
    }
}

/// The number of elements of an array of these lengths; none if one is missing, or it has more than 64 bits.
pub(crate) fn elements_of(lengths: &[Option<u64>]) -> Option<u64> {
    let mut lengths = lengths.iter();
    lengths.try_fold(1, |product: u64, length| product.checked_mul((*length)?))
}

/// The initial value of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// A number, or the address of a variable.
    Value(Operand),
    /// The generic address of a variable, and a distance in bytes.
    Generic(Box<str>, i64),
    /// The values of an array.
    List(Vec<Initial>),
}

impl fmt::Display for Initial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(formatter, "{value}"),
            Self::Generic(name, 0) => write!(formatter, "generic({name})"),
            Self::Generic(name, offset) => write!(formatter, "generic({name})+{offset}"),
            Self::List(values) => {
                formatter.write_str("{")?;
                list(formatter, values)?;
                formatter.write_str("}")
            }
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(" .ptr")?;
        if let Some(memory) = self.memory {
            write!(formatter, " .{}", memory.text())?;
        }
        if let Some(alignment) = self.alignment {
            write!(formatter, " .align {alignment}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        if let Some(count) = self.count {
            write!(formatter, "<{count}>")?;
        }
        for length in &self.dimensions {
            match length {
                Some(length) => write!(formatter, "[{length}]")?,
                None => formatter.write_str("[]")?,
            }
        }
        if let Some(initial) = &self.initial {
            write!(formatter, " = {initial}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(linkage) = self.linkage {
            write!(formatter, ".{} ", linkage.text())?;
        }
        write!(formatter, ".{}", self.memory.text())?;
        if let Some(alignment) = self.alignment {
            write!(formatter, " .align {alignment}")?;
        }
        if let Some(vector) = self.vector {
            write!(formatter, " .{}", vector.text())?;
        }
        write!(formatter, " .{}", self.of.text())?;
        if let Some(pointer) = &self.pointer {
            write!(formatter, "{pointer}")?;
        }
        formatter.write_str(" ")?;
        list(formatter, &self.variables)
    }
}
