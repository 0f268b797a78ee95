//! Variables in memory.

use crate::syntax::{Declaration, Initial, Operand, Variable};

/// An array in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedArray {
    /// The slot of its address.
    pub slot: u32,
    /// Its size; none for the dynamic memory.
    pub bytes: Option<usize>,
    pub alignment: usize,
    /// The line of its declaration.
    pub line: u32,
}

/// A variable of the module, with its initial bytes.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub name: String,
    pub initial: Vec<u8>,
}

impl Global {
    /// None if the initial values are not numbers.
    pub fn new(declaration: &Declaration, variable: &Variable, bytes: usize) -> Option<Self> {
        let element = declaration.of.bits()? as usize / 8;
        let mut initial = Vec::new();
        if let Some(values) = &variable.initial {
            append(values, element, &mut initial)?;
        }
        initial.resize(bytes.max(initial.len()), 0);
        Some(Self {
            name: variable.name.to_string(),
            initial,
        })
    }
}

fn append(value: &Initial, element: usize, to: &mut Vec<u8>) -> Option<()> {
    match value {
        Initial::List(values) => values.iter().try_for_each(|it| append(it, element, to)),
        Initial::Value(Operand::Integer(value)) => {
            to.extend(&value.to_le_bytes()[..element]);
            Some(())
        }
        Initial::Value(Operand::Single(bits)) if element == 4 => {
            to.extend(bits.to_le_bytes());
            Some(())
        }
        Initial::Value(Operand::Double(bits)) if element == 8 => {
            to.extend(bits.to_le_bytes());
            Some(())
        }
        _ => None,
    }
}
