//! The layout of parameters and variables.

use crate::syntax::{Declaration, Variable};

/// A kernel's parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub offset: usize,
    pub bytes: usize,
}

/// The size and the alignment of a variable in bytes. One whose length the launch says has no bytes.
pub(super) fn layout(declaration: &Declaration, variable: &Variable) -> Option<(usize, usize)> {
    let element = declaration.of.bits()? as usize / 8;
    let vector = declaration.vector.map_or(1, |it| it.count() as usize);
    let natural = element * vector;
    let elements = match variable.dimensions.as_slice() {
        [None] => variable.initial_length(),
        _ => variable.elements()? as usize,
    };
    let alignment = declaration.alignment.map_or(natural, |it| it as usize);
    let is_sound = natural > 0 && alignment.is_power_of_two();
    is_sound.then_some((natural.checked_mul(elements)?, alignment))
}

/// The places of parameters, one after the other.
pub(super) fn parameters(declarations: &[Declaration]) -> Option<Vec<Parameter>> {
    let mut end = 0_usize;
    let place = |declaration: &Declaration| {
        let variable = declaration.variables.first()?;
        let (bytes, alignment) = layout(declaration, variable)?;
        let offset = end.next_multiple_of(alignment);
        end = offset + bytes;
        Some(Parameter {
            name: variable.name.to_string(),
            offset,
            bytes,
        })
    };
    declarations.iter().map(place).collect()
}
