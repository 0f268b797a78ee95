//! The order of launches in several streams that share memory of their module.

use crate::backend::Backend;
use crate::error::Outcome;
use crate::uses::Uses;

/// The static arrays that a module's kernel crate declares, ordered between streams like one buffer.
///
/// A kernel may use any of them, so a launch counts as a use of all. Callers lock the module's record until they have
/// submitted the work that they ordered.
#[derive(Debug)]
pub struct Statics {
    kind: Option<Kind>,
    uses: Uses,
    /// The uses of the counters of the grid's barrier, which cooperative launches share.
    barrier: Uses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Arrays in constant memory alone, which no kernel writes.
    Constant,
    Global,
}

impl Statics {
    /// Those of the module that is compiled from `image`. Names that begin with `_` or `anon_` are not the crate's.
    pub fn of(image: &str) -> Self {
        let kinds = image.lines().filter_map(|line| {
            let (kind, line) = match line.strip_prefix(".visible .global ") {
                Some(line) => (Kind::Global, line),
                None => (Kind::Constant, line.strip_prefix(".visible .const ")?),
            };
            let name = line.split_once('[')?.0.split(' ').next_back()?;
            (!name.starts_with('_') && !name.starts_with("anon_")).then_some(kind)
        });
        let kind = kinds.reduce(|one, other| if one == other { one } else { Kind::Global });
        Self {
            kind,
            uses: Uses::none(),
            barrier: Uses::none(),
        }
    }

    /// Whether there are any.
    pub fn are_there(&self) -> bool {
        self.kind.is_some()
    }

    /// Orders later launches of `stream`.
    pub fn order_launches(&self, stream: &dyn Backend, is_cooperative: bool) -> Outcome<()> {
        if is_cooperative {
            self.barrier.order_writes(stream, true)?;
        }
        match self.kind {
            None => Ok(()),
            Some(Kind::Constant) => self.uses.order_reads(stream),
            Some(Kind::Global) => self.uses.order_writes(stream, true),
        }
    }

    /// Orders later copies of `stream` from the arrays.
    pub fn order_reads(&self, stream: &dyn Backend) -> Outcome<()> {
        self.uses.order_reads(stream)
    }

    /// Orders later copies of `stream` to the arrays.
    pub fn order_writes(&self, stream: &dyn Backend) -> Outcome<()> {
        self.uses.order_writes(stream, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_the_crate_declares_are_found() {
        let kind = |image: &str| Statics::of(image).kind;
        let own = ".visible .global .align 1 .b8 __signature_of_f[2] = {1, 2};\n\
                   .visible .global .align 4 .b8 anon_0[4];\n.extern .shared .align 16 .b8 tile[];\n";
        assert_eq!(kind(own), None);
        let constant = ".visible .const .align 16 .b8 TABLE[4096];\n";
        assert_eq!(kind(&format!("{own}{constant}")), Some(Kind::Constant));
        let global = ".visible .global .align 16 .b8 SEEN[16] = {0};\n";
        assert_eq!(kind(&format!("{constant}{global}")), Some(Kind::Global));
        assert_eq!(kind(&format!("{global}{own}")), Some(Kind::Global));
    }
}
