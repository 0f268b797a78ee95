//! The table of registers beside the checked-in PTX, for machines without `ptxas`.

use crate::workspace::{Result, workspace_root};
use std::fs;
use std::path::PathBuf;
use tilewright_ptxas::{RegisterTable, fingerprint};

/// The table, relative to the root of the workspace.
const FILE: &str = "ladder/registers.txt";

const ADVICE: &str = "run `cargo xtask ptxas --write` and commit ladder/registers.txt";

fn path() -> PathBuf {
    workspace_root().join(FILE)
}

/// The checked-in table.
fn checked_in() -> Result<RegisterTable> {
    let text = fs::read_to_string(path()).map_err(|error| format!("{FILE}: {error}; {ADVICE}"))?;
    Ok(text
        .parse()
        .map_err(|error| format!("{FILE}: {error}; {ADVICE}"))?)
}

/// Whether the checked-in table belongs to the checked-in PTX.
pub fn table_is_of_the_ptx() -> Result<bool> {
    Ok(checked_in()?.ptx == fingerprint(&workspace_root())?)
}

/// An empty table of the checked-in PTX for these GPUs, by this version of `ptxas`.
pub fn empty_table(ptxas: &str, gpus: &[&str]) -> Result<RegisterTable> {
    let ptx = fingerprint(&workspace_root())?;
    Ok(RegisterTable::new(ptxas.to_owned(), ptx, gpus))
}

/// Writes the table.
pub fn write(table: &RegisterTable) -> Result {
    fs::write(path(), table.to_string())?;
    println!("{FILE} is written");
    Ok(())
}

/// Compares the columns of `gpus` in the checked-in table with the assembler's, `found`, of all kernels or of some. If
/// the assembler's version differs, only the PTX is compared, because registers depend on the version.
pub fn defects(found: &RegisterTable, gpus: &[&str], are_all: bool) -> Vec<String> {
    let table = checked_in().map(|table| match are_all {
        true => table.on_gpus(gpus),
        false => table.on_gpus(gpus).of_kernels_in(found),
    });
    match table {
        Ok(table) => stale(&table, found),
        Err(error) => vec![error.to_string()],
    }
}

fn stale(table: &RegisterTable, found: &RegisterTable) -> Vec<String> {
    if table.ptx != found.ptx {
        return vec![format!("{FILE} is of other PTX: {ADVICE}")];
    }
    if table.ptxas != found.ptxas {
        println!(
            "{FILE} is of ptxas {}, and this is {}: the registers were not compared",
            table.ptxas, found.ptxas
        );
        return Vec::new();
    }
    if table == found {
        return Vec::new();
    }
    let mut defects = table.differences(found);
    defects.push(format!("{FILE} has other registers or GPUs: {ADVICE}"));
    defects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(ptxas: &str, ptx: &str, registers: u32) -> RegisterTable {
        let mut table = RegisterTable::new(ptxas.to_owned(), ptx.to_owned(), &["sm_80"]);
        table.insert("k", "sm_80", registers);
        table
    }

    #[test]
    fn a_table_of_other_ptx_or_registers_is_stale() {
        let found = table("13.0", "a", 32);
        assert!(stale(&found, &found).is_empty());
        let of_other_ptx = stale(&table("13.0", "b", 32), &found);
        assert!(of_other_ptx[0].contains("other PTX"), "{of_other_ptx:?}");
        let of_other_registers = stale(&table("13.0", "a", 33), &found);
        assert_eq!(of_other_registers[0], "k: 33, now 32");
        let of_other_gpus = RegisterTable::new("13.0".to_owned(), "a".to_owned(), &["sm_90"]);
        assert!(!stale(&of_other_gpus, &found).is_empty());
    }

    #[test]
    fn registers_of_another_ptxas_are_not_compared() {
        assert!(stale(&table("12.9", "a", 33), &table("13.0", "a", 32)).is_empty());
    }

    #[test]
    fn the_checked_in_table_is_of_the_checked_in_ptx() {
        assert!(table_is_of_the_ptx().unwrap(), "{ADVICE}");
    }
}
