//! The registers of the library's and the ladders' kernels.

use crate::support::Outcome;
use cuda_builder::checked_in::{self, CheckedInError};
use std::path::Path;
use tilewright::LaunchReport;
use tilewright_ptxas::{Assembler, FOLDERS, RegisterTable, costs, module_of};

/// The root of the workspace in which this program was built.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The registers, from `cargo xtask ptxas --write`.
const TABLE: &str = include_str!("../registers.txt");

/// Sets the registers of a report's kernels to those of the checked-in PTX on the profile's device.
///
/// They come from the assembler in the environment variable PTXAS, otherwise from the table.
///
/// # Errors
/// If the variable does not name an assembler, or it cannot assemble a kernel.
pub fn set(report: &mut LaunchReport) -> Outcome {
    let Some(compute_capability) = report.profile.datasheet().compute_capability else {
        return Ok(());
    };
    match Assembler::named()? {
        Some(assembler) => set_from_assembler(report, &assembler, compute_capability),
        None => set_from_table(report, compute_capability),
    }
}

fn set_from_table(report: &mut LaunchReport, compute_capability: (u32, u32)) -> Outcome {
    let table: RegisterTable = TABLE
        .parse()
        .map_err(|error| format!("registers.txt: {error}"))?;
    // The table covers all folders: a change in one makes all of it doubtful.
    let origin = origin(&table.ptxas, FOLDERS.into_iter().any(has_changed));
    report.set_registers_from(&origin, |kernel| {
        table.registers(kernel, compute_capability)
    });
    Ok(())
}

fn set_from_assembler(
    report: &mut LaunchReport,
    assembler: &Assembler,
    compute_capability: (u32, u32),
) -> Outcome {
    let version = assembler.version()?;
    let mut kernels: Vec<_> = report.launches.iter().map(|it| it.kernel.clone()).collect();
    kernels.sort();
    kernels.dedup();
    for kernel in kernels {
        let Some((module, target)) = module_of(Path::new(ROOT), &kernel, compute_capability)?
        else {
            continue;
        };
        let log = assembler.assemble(&module.path, &target, None)?;
        let cost = costs(&log).into_iter().find(|cost| cost.name == kernel);
        let registers = cost.and_then(|cost| cost.registers);
        let origin = origin(&version, has_changed(module.folder));
        report.set_registers_from(&origin, |name| registers.filter(|_| name == kernel));
    }
    Ok(())
}

fn origin(version: &str, has_changed: bool) -> String {
    match has_changed {
        false => format!("ptxas {version}"),
        true => format!("ptxas {version}, before the sources changed"),
    }
}

/// Whether the sources of the PTX in one of [`FOLDERS`] have changed since it was compiled. False
/// if the sources are missing.
fn has_changed(folder: &str) -> bool {
    let root = Path::new(ROOT);
    matches!(
        checked_in::verify(&root.join(folder), root),
        Err(CheckedInError::StaleSource { .. } | CheckedInError::StalePackage { .. })
    )
}
