//! Variables in memory.

use crate::syntax::{Declaration, Initial, Linkage, Operand, Variable, elements_of};
use crate::words::{Memory, Type};

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
    /// Whether an instruction names it.
    pub is_used: bool,
}

/// A variable of the module, with its initial bytes.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub name: String,
    /// What no other variable of the module has: its name, behind its function and scope if it is of one.
    pub key: String,
    /// Whether it is here, and not in another file.
    pub is_defined: bool,
    /// The line of its declaration.
    pub line: u32,
    pub bytes: usize,
    /// The first bytes; zeros follow.
    pub initial: Vec<u8>,
    /// Addresses of other variables among the initial values.
    pub addresses: Vec<InitialAddress>,
    /// Whether it is in constant memory.
    pub is_constant: bool,
}

/// An address among the initial values of a variable.
#[derive(Clone, Debug)]
pub(crate) struct InitialAddress {
    /// Where it is, in bytes.
    pub place: usize,
    /// Its name, and its key once that is known.
    pub variable: String,
    /// The distance from the variable's start.
    pub offset: i64,
}

impl Global {
    /// None if the initial values are not numbers or addresses.
    pub fn new(declaration: &Declaration, variable: &Variable, bytes: usize) -> Option<Self> {
        let mut global = Self {
            name: variable.name.to_string(),
            key: variable.name.to_string(),
            is_defined: declaration.linkage != Some(Linkage::Extern),
            line: declaration.line.0,
            bytes,
            initial: Vec::new(),
            addresses: Vec::new(),
            is_constant: declaration.memory == Memory::Const,
        };
        if let Some(values) = &variable.initial {
            let mut lengths = variable.dimensions.clone();
            let vector = declaration.vector.map(|it| u64::from(it.count()));
            lengths.extend(vector.map(Some));
            global.append(values, declaration.of, vector, &lengths)?;
        }
        (global.initial.len() <= bytes).then_some(global)
    }

    /// Values of an array of these lengths, whose last one is that of vectors if there are any. As in C, a list among
    /// them is a row, filled up with zeros; that of a vector is full.
    fn append(
        &mut self,
        value: &Initial,
        of: Type,
        vector: Option<u64>,
        lengths: &[Option<u64>],
    ) -> Option<()> {
        let element = of.bits()? as usize / 8;
        if vector.is_some() {
            match value {
                Initial::List(values) if lengths.len() == 1 => {
                    (values.len() as u64 == vector?).then_some(())?;
                }
                Initial::List(_) => (lengths.len() > 1).then_some(())?,
                _ => lengths.is_empty().then_some(())?,
            }
        }
        match value {
            Initial::List(values) => {
                let of_row = lengths.get(1..).unwrap_or_default();
                let bytes = element.checked_mul(usize::try_from(elements_of(of_row)?).ok()?)?;
                for value in values {
                    let end = self.initial.len().checked_add(bytes)?;
                    self.append(value, of, vector, of_row)?;
                    if matches!(value, Initial::List(_)) {
                        let fits = self.initial.len() <= end && end <= self.bytes;
                        fits.then(|| self.initial.resize(end, 0))?;
                    }
                }
            }
            Initial::Value(Operand::Integer(value)) if !of.is_float() => {
                self.initial.extend(&value.to_le_bytes()[..element]);
            }
            Initial::Value(Operand::Single(bits)) if matches!(of, Type::F32 | Type::B32) => {
                self.initial.extend(bits.to_le_bytes());
            }
            // Bits, as in an instruction.
            Initial::Value(Operand::Single(bits)) if of == Type::F64 => {
                self.initial.extend(u64::from(*bits).to_le_bytes());
            }
            Initial::Value(Operand::Double(bits)) if matches!(of, Type::F32 | Type::B32) => {
                let value = f64::from_bits(*bits) as f32;
                self.initial.extend(value.to_le_bytes());
            }
            Initial::Value(Operand::Double(bits)) if matches!(of, Type::F64 | Type::B64) => {
                self.initial.extend(bits.to_le_bytes());
            }
            // The address of global memory is its generic one.
            Initial::Generic(name, offset) | Initial::Value(Operand::Offset(name, offset)) => {
                self.append_address(name, *offset, element)?;
            }
            Initial::Value(Operand::Name(name)) => self.append_address(name, 0, element)?,
            Initial::Value(_) => return None,
        }
        Some(())
    }

    fn append_address(&mut self, name: &str, offset: i64, element: usize) -> Option<()> {
        let place = self.initial.len();
        self.addresses.push(InitialAddress {
            place,
            variable: name.to_owned(),
            offset,
        });
        self.initial.resize(place + element, 0);
        (element == 8).then_some(())
    }
}
