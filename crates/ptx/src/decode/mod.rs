//! A kernel in the form that is run: numbered slots instead of names, and numbers of instructions instead of labels.

mod arithmetic;
mod asynchronous;
mod at;
mod call;
mod callee;
mod carry;
mod control;
mod decoder;
mod error;
mod indirect;
mod layout;
mod memory;
mod names;
mod op;
mod operands;
mod parts;
mod products;
mod program;
mod special;
mod synchronisation;
mod system;
mod textures;
mod variables;
mod wmma;

pub use error::{DecodeError, DecodeErrorKind, ProgramError};
pub(crate) use layout::MOST_ALIGNMENT;
pub(crate) use op::Op;
pub(crate) use parts::{
    Access, AddressSpace, ArrivalOrder, Atomic, BoxCopy, BytesCopy, Combine, Fence, FragmentKind,
    FragmentMove, List, MatrixMove, MbarrierStep, Pointer, ProductOp, Reduction, Shuffle,
    TextureSample, Vote, WarpgroupOp,
};
pub use program::Program;
pub(crate) use special::{Axis, Special};
pub(crate) use variables::Global;

use crate::syntax::Module;
use decoder::Decoder;
use std::collections::BTreeMap;

impl Program {
    /// The kernel `name` of `module`.
    ///
    /// # Errors
    /// [`ProgramError`] lists each instruction that is not supported or that uses an undeclared name.
    pub fn new(module: &Module, name: &str) -> Result<Self, ProgramError> {
        let (program, errors) = Decoder::run(module, name);
        match errors.is_empty() {
            true => Ok(program),
            false => Err(ProgramError {
                kernel: name.to_owned(),
                errors,
            }),
        }
    }
}

/// The variables of a module in global memory, as far as they have values that can be used.
pub(crate) fn globals(module: &Module) -> Vec<Global> {
    let (program, _) = Decoder::run(module, "");
    program.globals
}

/// How many instructions of `module`'s kernel `name` there are, and how often each unsupported one occurs.
///
/// ```
/// let module: ptx::Module = "
///     .version 7.0
///     .target sm_75
///     .entry e() { vadd.s32.s32.s32 %r1, 1, 2, 3; ret; }
/// ".parse()?;
/// let (instructions, unsupported) = ptx::coverage(&module, "e");
/// assert_eq!(instructions, 2);
/// assert_eq!(unsupported["vadd.s32.s32.s32"], 1);
/// # Ok::<(), ptx::ReadError>(())
/// ```
#[must_use]
pub fn coverage(module: &Module, name: &str) -> (usize, BTreeMap<String, usize>) {
    let (_, errors) = Decoder::run(module, name);
    let mut unsupported = BTreeMap::new();
    for error in errors {
        *unsupported.entry(error.operation).or_default() += 1;
    }
    let functions = module.functions();
    let count = functions.filter(|it| it.name.as_ref() == name);
    let count = count.map(|it| crate::flat::Flat::of(it).steps.len()).sum();
    (count, unsupported)
}
