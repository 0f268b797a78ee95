//! The control flow of a function.

use crate::flat::{Flat, Step};
use crate::operations::{BranchName, Operation};
use crate::syntax::{Function, Instruction, Line, Operand};
use std::collections::BTreeSet;
use thiserror::Error;

/// Instructions of a function that are executed one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BasicBlock<'a> {
    /// The instructions, each with its line.
    pub instructions: Vec<(Line, &'a Instruction)>,
    /// The numbers of the blocks that may come next. One that is as large as the number of blocks is the end of the
    /// function.
    pub successors: Vec<usize>,
}

/// The basic blocks of a function, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph<'a> {
    /// The blocks; the first is entered.
    pub blocks: Vec<BasicBlock<'a>>,
}

/// A branch to nowhere.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: there is no label or list of labels {name:?}")]
pub struct UnknownLabel {
    /// The branch's line.
    pub line: u32,
    /// The name that it has.
    pub name: String,
}

impl<'a> Graph<'a> {
    /// The blocks of `function`. Those that are never entered are among them.
    ///
    /// # Errors
    /// [`UnknownLabel`] if a branch names a label that its scope does not have.
    ///
    /// ```
    /// let module: ptx::Module = "
    ///     .version 7.0
    ///     .target sm_75
    ///     .entry twice() {
    ///         .reg .pred %p<2>;
    ///     again:
    ///         setp.eq.b32 %p1, 0, 1;
    ///         @%p1 bra again;
    ///         ret;
    ///     }
    /// ".parse()?;
    /// let graph = ptx::Graph::of(module.kernels().next().unwrap())?;
    /// assert_eq!(graph.blocks[0].successors, [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(function: &'a Function) -> Result<Self, UnknownLabel> {
        let flat = Flat::of(function);
        let targets: Vec<Vec<usize>> = (flat.steps.iter())
            .map(|step| targets(&flat, step))
            .collect::<Result<_, _>>()?;
        let count = flat.steps.len();
        let mut starts = BTreeSet::from([0, count]);
        for (number, (step, targets)) in flat.steps.iter().zip(&targets).enumerate() {
            if is_end(step.instruction) {
                starts.insert(number + 1);
            }
            starts.extend(targets);
        }
        let starts: Vec<usize> = starts.into_iter().collect();
        let block_of = |step: usize| starts.binary_search(&step).unwrap_or_else(|next| next - 1);
        let blocks = starts.windows(2).map(|range| {
            let steps = &flat.steps[range[0]..range[1]];
            let last = range[1] - 1;
            let mut successors: Vec<usize> =
                targets[last].iter().map(|step| block_of(*step)).collect();
            if goes_on(flat.steps[last].instruction) {
                successors.push(block_of(range[1]));
            }
            successors.sort_unstable();
            successors.dedup();
            BasicBlock {
                instructions: steps.iter().map(|it| (it.line, it.instruction)).collect(),
                successors,
            }
        });
        Ok(Self {
            blocks: blocks.collect(),
        })
    }
}

/// The name of a branch, a call or an end.
fn branch_of(instruction: &Instruction) -> Option<BranchName> {
    match &instruction.operation {
        Operation::Branch(branch) => Some(branch.name),
        _ => None,
    }
}

/// Whether a basic block ends after the instruction.
fn is_end(instruction: &Instruction) -> bool {
    matches!(
        branch_of(instruction),
        Some(
            BranchName::Bra
                | BranchName::Table
                | BranchName::Return
                | BranchName::Exit
                | BranchName::Trap
        )
    )
}

/// Whether the next instruction may be executed after this one.
fn goes_on(instruction: &Instruction) -> bool {
    instruction.guard.is_some() || !is_end(instruction)
}

/// The steps to which an instruction may branch.
fn targets(flat: &Flat<'_>, step: &Step<'_>) -> Result<Vec<usize>, UnknownLabel> {
    let Step {
        line,
        scope,
        instruction,
        ..
    } = *step;
    let unknown = |name: &str| UnknownLabel {
        line: line.0,
        name: name.to_owned(),
    };
    let label = |name: &str| flat.label(scope, name).ok_or_else(|| unknown(name));
    match (branch_of(instruction), instruction.operands.as_slice()) {
        (Some(BranchName::Bra), [Operand::Name(name)]) => Ok(vec![label(name)?]),
        (Some(BranchName::Table), [_, Operand::Name(name)]) => {
            let names = flat.targets(scope, name).ok_or_else(|| unknown(name))?;
            names.iter().map(|name| label(name)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Module;

    fn successors(body: &str) -> Vec<Vec<usize>> {
        let text = format!(".version 7.0\n.target sm_75\n.entry e() {{ {body} }}");
        let module: Module = text.parse().unwrap();
        let graph = Graph::of(module.kernels().next().unwrap()).unwrap();
        graph.blocks.into_iter().map(|it| it.successors).collect()
    }

    #[test]
    fn a_condition_has_two_ways_and_an_end_none() {
        let found = successors("@%p bra one; exit; one: ret;");
        assert_eq!(found, [vec![1, 2], vec![], vec![]]);
    }

    #[test]
    fn a_table_leads_to_each_of_its_labels() {
        let found = successors("t: .branchtargets a, b; brx.idx %r, t; a: bra b; b: @%p exit;");
        assert_eq!(found, [vec![1, 2], vec![2], vec![3]]);
    }

    #[test]
    fn labels_of_inner_braces_hide_those_around_them() {
        let found = successors("x: exit; { x: bra x; } bra x;");
        assert_eq!(found, [vec![], vec![1], vec![0]]);
    }

    #[test]
    fn a_branch_to_nowhere_names_its_line() {
        let text = ".version 7.0\n.target sm_75\n.entry e() {\n bra away; }";
        let module: Module = text.parse().unwrap();
        let error = Graph::of(module.kernels().next().unwrap()).unwrap_err();
        assert_eq!((error.line, error.name.as_str()), (4, "away"));
    }
}
