//! Launches that no GPU makes.

use crate::error::CheckError;
use crate::launch::Launch;
use ptx::{Bound, BoundKind, Declaration, Item, Memory, Module};
use simt::Profile;

/// Bytes of a module's constant memory, at most (PTX ISA, "Constant State Space").
const MOST_CONSTANT_BYTES: u64 = 64 << 10;

/// The first compute capability with clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
const FIRST_WITH_CLUSTERS: (u32, u32) = (9, 0);

impl Launch {
    /// Fails if no GPU makes the launch, or loads the module.
    pub(crate) fn check_limits(&self, module: &Module, profile: Profile) -> Result<(), CheckError> {
        for (what, of, extent) in [
            ("grid", "blocks", self.grid),
            ("block", "threads", self.block),
            ("cluster", "blocks", self.cluster),
        ] {
            if extent.contains(&0) {
                return Err(CheckError::Empty { what, of, extent });
            }
        }
        let bytes = constant_bytes(module);
        if bytes > MOST_CONSTANT_BYTES {
            return Err(CheckError::ConstantMemory(bytes));
        }
        self.check_block(module)?;
        self.check_cluster(module, profile)
    }

    /// Fails if the kernel's bounds exclude the block, as a launch on a GPU does.
    fn check_block(&self, module: &Module) -> Result<(), CheckError> {
        let text = |bound: &str, numbers: &[u64]| CheckError::Block {
            block: self.block,
            bound: written(bound, numbers),
        };
        if let Some(numbers) = bound(module, &self.entry, BoundKind::RequiredThreads) {
            let required = |axis: usize| numbers.get(axis).copied().unwrap_or(1);
            if (0..3).any(|axis| required(axis) != u64::from(self.block[axis])) {
                return Err(text("reqntid", numbers));
            }
        }
        if let Some(numbers) = bound(module, &self.entry, BoundKind::MaxThreads)
            && product(numbers) < product(&self.block.map(u64::from))
        {
            return Err(text("maxntid", numbers));
        }
        Ok(())
    }

    /// Fails if the kernel's bounds exclude the cluster, or the device has none.
    fn check_cluster(&self, module: &Module, profile: Profile) -> Result<(), CheckError> {
        let cluster = self.cluster_of(module);
        let refused = |reason| Err(CheckError::Cluster { cluster, reason });
        let has_bound = |name, numbers| {
            refused(format!(
                "the kernel has the bound `{}`",
                written(name, numbers)
            ))
        };
        if let Some(numbers) = bound(module, &self.entry, BoundKind::ClusterBlocks) {
            let required = |axis: usize| numbers.get(axis).copied().unwrap_or(1);
            // A number beyond u32 is a finding of the launch.
            let is_other =
                |axis: usize| u64::from(cluster[axis]) != required(axis).min(u32::MAX.into());
            if (0..3).any(is_other) {
                return has_bound("reqnctapercluster", numbers);
            }
        }
        let blocks = product(&cluster.map(u64::from));
        if let Some(numbers) = bound(module, &self.entry, BoundKind::MaxClusterRank)
            && product(numbers) < blocks
        {
            return has_bound("maxclusterrank", numbers);
        }
        match profile.datasheet().compute_capability {
            Some(found) if found < FIRST_WITH_CLUSTERS && blocks > 1 => refused(format!(
                "{} of compute capability {}.{} has no clusters, which begin with 9.0",
                profile.datasheet().name,
                found.0,
                found.1
            )),
            _ => Ok(()),
        }
    }

    /// The cluster of the launch, or that of the kernel.
    pub(crate) fn cluster_of(&self, module: &Module) -> [u32; 3] {
        let of_kernel = bound(module, &self.entry, BoundKind::ClusterBlocks);
        match of_kernel {
            Some(blocks) if self.cluster == [1; 3] => {
                let blocks = |axis| blocks.get(axis).copied().unwrap_or(1);
                std::array::from_fn(|axis| blocks(axis).try_into().unwrap_or(u32::MAX))
            }
            _ => self.cluster,
        }
    }
}

/// A bound as in the PTX.
fn written(name: &str, numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!(".{name} {}", numbers.join(", "))
}

/// The numbers of a kernel's bound.
pub fn bound<'a>(module: &'a Module, entry: &str, wanted: BoundKind) -> Option<&'a [u64]> {
    let mut kernels = module.kernels();
    let kernel = kernels.find(|it| it.name.as_ref() == entry)?;
    let mut bounds = kernel.signature.bounds.iter();
    bounds.find_map(|bound| match bound {
        Bound::Numbers(kind, numbers) if *kind == wanted => Some(numbers.as_slice()),
        _ => None,
    })
}

/// The product of numbers, or the largest one.
pub fn product(numbers: &[u64]) -> u64 {
    numbers.iter().fold(1, |all, it| all.saturating_mul(*it))
}

/// Bytes of constant memory that a module's variables take, without padding.
fn constant_bytes(module: &Module) -> u64 {
    let declarations = module.items.iter().filter_map(|item| match item {
        Item::Declaration(it) if it.memory == Memory::Const => Some(bytes_of(it)),
        _ => None,
    });
    declarations.fold(0, u64::saturating_add)
}

/// Bytes of declared variables.
fn bytes_of(declaration: &Declaration) -> u64 {
    let element = u64::from(declaration.of.bits().unwrap_or(0)) / 8;
    let vector = declaration.vector.map_or(1, |it| u64::from(it.count()));
    let variables = declaration.variables.iter();
    let elements = variables.map(|it| it.elements().unwrap_or(u64::MAX));
    elements
        .fold(0, u64::saturating_add)
        .saturating_mul(element * vector)
}
