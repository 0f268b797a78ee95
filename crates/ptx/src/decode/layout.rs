//! The layout of parameters and variables.

use crate::syntax::{Declaration, Variable};
use std::collections::HashSet;

/// The largest alignment of a variable or a parameter, in bytes: that of a tile in shared memory.
pub(crate) const MOST_ALIGNMENT: usize = 1024;

/// The most slots of a thread: a block of 1024 threads has 512 MiB of them.
pub(super) const MOST_SLOTS: usize = 1 << 16;

/// The most bytes of a thread's local memory (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
const MOST_LOCAL_BYTES: usize = 512 << 10;

/// The most bytes of a kernel's parameters (PTX ISA, "Kernel Function Parameters").
const MOST_PARAMETER_BYTES: usize = 32_764;

/// A kernel's parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub offset: usize,
    pub bytes: usize,
}

/// The size and the alignment of a variable in bytes. Its size is 0 if the launch determines its length.
pub(super) fn layout(declaration: &Declaration, variable: &Variable) -> Option<(usize, usize)> {
    let element = declaration.of.bits()? as usize / 8;
    let vector = declaration.vector.map_or(1, |it| it.count() as usize);
    let natural = element * vector;
    let elements = variable.elements()? as usize;
    let alignment = declaration.alignment.map_or(natural, |it| it as usize);
    let is_sound = natural > 0 && alignment.is_power_of_two() && alignment <= MOST_ALIGNMENT;
    is_sound.then_some((natural.checked_mul(elements)?, alignment))
}

/// The place of a variable behind `used` bytes of local memory, and its end; none if there is no room for it.
pub(super) fn place_in_local(
    used: usize,
    (bytes, alignment): (usize, usize),
) -> Option<(usize, usize)> {
    let start = used.next_multiple_of(alignment);
    let end = start.checked_add(bytes)?;
    (end <= MOST_LOCAL_BYTES).then_some((start, end))
}

/// The places of parameters, one after the other.
///
/// # Errors
/// A declaration whose size, alignment or type cannot be used, or whose name another one has.
pub(super) fn parameters(declarations: &[Declaration]) -> Result<Vec<Parameter>, &Declaration> {
    let mut end = 0_usize;
    let mut names = HashSet::new();
    let mut place = |declaration: &Declaration| {
        let variable = declaration.variables.first()?;
        let (bytes, alignment) = layout(declaration, variable)?;
        let is_new = names.insert(variable.name.to_string());
        let offset = end.checked_next_multiple_of(alignment).filter(|_| is_new)?;
        end = offset.checked_add(bytes)?;
        (end <= MOST_PARAMETER_BYTES).then(|| Parameter {
            name: variable.name.to_string(),
            offset,
            bytes,
        })
    };
    let placed = declarations.iter().map(|it| place(it).ok_or(it));
    placed.collect()
}
