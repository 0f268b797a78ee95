//! Control flow, and properties of a whole launch or warpgroup.

use super::family::family;
use crate::words::{Aligned, DependentStep, PolicyPriority, RegisterStep, Sync, Type, Uniform};

family! {
    /// Branches, calls and ends (PTX ISA, 9.7.12).
    Branch: BranchName {
        Bra = "bra", Table = "brx.idx", Call = "call", Return = "ret", Exit = "exit", Trap = "trap", Break = "brkpt",
        Sleep = "nanosleep",
    }
    with 0..=4;
    /// Whether all lanes of a warp branch alike.
    uniform: Option<Uniform>,
    /// The type of the duration.
    of: Option<Type>,
}

family! {
    /// Orders a launch and the next one.
    Dependent: DependentName { GridDependency = "griddepcontrol", }
    with 0..=0;
    /// The step.
    step: DependentStep,
}

family! {
    /// Makes a policy of the second-level cache.
    Policy: PolicyName { Create = "createpolicy.fractional", }
    with 1..=2;
    /// The priority of the part of accesses.
    first: PolicyPriority,
    /// The priority of the others.
    second: Option<PolicyPriority>,
    /// Always `b64`.
    of: Type,
}

family! {
    /// Moves registers between warpgroups.
    Registers: RegistersName { SetMax = "setmaxnreg", }
    with 1..=1;
    /// Whether the warpgroup gets registers or gives some back.
    step: RegisterStep,
    /// Always there.
    sync: Sync,
    /// Always there.
    aligned: Aligned,
    /// Always `u32`.
    of: Type,
}
