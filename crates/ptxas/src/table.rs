//! The registers of all kernels as a file.

use crate::targets::targets_of;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// Where a kernel is not compiled for a GPU.
const NONE: &str = "-";

const HEAD: &str = "# Registers of a thread, by kernel and GPU, of the checked-in PTX: `cargo \
                    xtask ptxas --write` writes this file.\n";

/// The registers of the kernels of the checked-in PTX, by GPU.
///
/// [`Display`](fmt::Display) and [`FromStr`] are its form as a file: the version of `ptxas`, the
/// [`fingerprint`](crate::fingerprint) of the PTX, and a line for each kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterTable {
    /// The version of `ptxas` that assembled the PTX.
    pub ptxas: String,
    /// The fingerprint of the PTX.
    pub ptx: String,
    /// The GPUs, such as `sm_90`, in the order of the columns.
    gpus: Vec<String>,
    /// For each kernel its registers by GPU.
    kernels: BTreeMap<String, Vec<Option<u32>>>,
}

/// A text that is no table of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The line's number, from 1.
    pub line: usize,
}

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "line {} is no line of a table of registers",
            self.line
        )
    }
}

impl Error for TableError {}

impl RegisterTable {
    /// A table without kernels for these GPUs.
    #[must_use]
    pub fn new(ptxas: String, ptx: String, gpus: &[&str]) -> Self {
        Self {
            ptxas,
            ptx,
            gpus: gpus.iter().map(|&gpu| gpu.to_owned()).collect(),
            kernels: BTreeMap::new(),
        }
    }

    /// The same table with these of its GPUs alone, and the kernels that are compiled for one of them.
    #[must_use]
    pub fn on_gpus(&self, gpus: &[&str]) -> Self {
        let is_kept: Vec<bool> = self.gpus.iter().map(|it| gpus.contains(&&**it)).collect();
        let mut table = Self::new(self.ptxas.clone(), self.ptx.clone(), &[]);
        table.gpus = kept(&self.gpus, &is_kept);
        for (kernel, registers) in &self.kernels {
            let registers = kept(registers, &is_kept);
            if registers.iter().any(Option::is_some) {
                table.kernels.insert(kernel.clone(), registers);
            }
        }
        table
    }

    /// The same table with the kernels of `other` alone.
    #[must_use]
    pub fn of_kernels_in(mut self, other: &Self) -> Self {
        self.kernels
            .retain(|kernel, _| other.kernels.contains_key(kernel));
        self
    }

    /// Sets the registers of `kernel` on `gpu`.
    ///
    /// # Panics
    /// The table has no such GPU, or has the registers already: kernels have different names.
    pub fn insert(&mut self, kernel: &str, gpu: &str, registers: u32) {
        let column = self.gpus.iter().position(|it| it == gpu);
        let column = column.expect("the table has the GPU");
        let none = || vec![None; self.gpus.len()];
        let of_kernel = self.kernels.entry(kernel.to_owned()).or_insert_with(none);
        let earlier = of_kernel[column].replace(registers);
        assert_eq!(earlier, None, "two kernels have the name {kernel}");
    }

    /// The registers of a thread of `kernel` on a GPU of this compute capability; none where the
    /// table has no such kernel or GPU. For compute capability 9.0 the kernel may be one that needs
    /// the instructions of 9.0 alone (`sm_90a`).
    #[must_use]
    pub fn registers(&self, kernel: &str, compute_capability: (u32, u32)) -> Option<u32> {
        let of_kernel = self.kernels.get(kernel)?;
        targets_of(compute_capability).iter().find_map(|gpu| {
            let column = self.gpus.iter().position(|it| it == gpu)?;
            of_kernel[column]
        })
    }

    /// The kernels whose registers are not the same in `other`, with both on a GPU.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let names = self.kernels.keys().chain(other.kernels.keys());
        let names: std::collections::BTreeSet<_> = names.collect();
        let shown = |table: &Self, name: &str| {
            let cells = table.kernels.get(name).map(|it| cells(it).join(" "));
            cells.unwrap_or_else(|| "missing".to_owned())
        };
        let pairs = names
            .into_iter()
            .map(|name| (name, shown(self, name), shown(other, name)));
        pairs
            .filter(|(_, own, others)| own != others)
            .map(|(name, own, others)| format!("{name}: {own}, now {others}"))
            .collect()
    }

    /// Reads one line; nothing if it is none of a table.
    fn take_line(&mut self, line: &str) -> Option<()> {
        if line.starts_with('#') {
            return Some(());
        }
        let mut words = line.split(' ');
        let key = words.next()?;
        match key {
            "ptxas" if self.ptxas.is_empty() => words.next()?.clone_into(&mut self.ptxas),
            "ptx" if self.ptx.is_empty() => words.next()?.clone_into(&mut self.ptx),
            "kernel" if self.gpus.is_empty() => {
                self.gpus = words.by_ref().map(str::to_owned).collect();
            }
            _ => {
                let cells = words.by_ref().map(|cell| match cell {
                    NONE => Some(None),
                    number => number.parse().ok().map(Some),
                });
                let cells: Vec<_> = cells.collect::<Option<_>>()?;
                if cells.is_empty() || cells.len() != self.gpus.len() {
                    return None;
                }
                self.kernels.insert(key.to_owned(), cells);
            }
        }
        words.next().is_none().then_some(())
    }
}

/// The elements that are kept.
fn kept<T: Clone>(elements: &[T], is_kept: &[bool]) -> Vec<T> {
    let elements = elements.iter().zip(is_kept);
    let elements = elements.filter_map(|(element, is_kept)| is_kept.then_some(element));
    elements.cloned().collect()
}

fn cells(registers: &[Option<u32>]) -> Vec<String> {
    let cell = |it: &Option<u32>| it.map_or_else(|| NONE.to_owned(), |it| it.to_string());
    registers.iter().map(cell).collect()
}

impl fmt::Display for RegisterTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(HEAD)?;
        writeln!(formatter, "ptxas {}", self.ptxas)?;
        writeln!(formatter, "ptx {}", self.ptx)?;
        writeln!(formatter, "kernel {}", self.gpus.join(" "))?;
        for (kernel, registers) in &self.kernels {
            writeln!(formatter, "{kernel} {}", cells(registers).join(" "))?;
        }
        Ok(())
    }
}

impl FromStr for RegisterTable {
    type Err = TableError;

    fn from_str(text: &str) -> Result<Self, TableError> {
        let mut table = Self::new(String::new(), String::new(), &[]);
        for (number, line) in text.lines().enumerate() {
            let line_error = TableError { line: number + 1 };
            table.take_line(line).ok_or(line_error)?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RegisterTable {
        let gpus = ["sm_80", "sm_90", "sm_90a"];
        let mut table = RegisterTable::new("13.0.88".to_owned(), "0123".to_owned(), &gpus);
        table.insert("sum", "sm_80", 32);
        table.insert("sum", "sm_90", 40);
        table.insert("product", "sm_90a", 168);
        table
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let text = table().to_string();
        assert!(text.ends_with(
            "ptxas 13.0.88\nptx 0123\nkernel sm_80 sm_90 sm_90a\nproduct - - 168\nsum 32 40 -\n"
        ));
        assert_eq!(text.parse(), Ok(table()));
    }

    #[test]
    fn a_gpu_has_the_kernels_of_its_own_instructions_too() {
        let table = table();
        assert_eq!(table.registers("sum", (9, 0)), Some(40));
        assert_eq!(table.registers("product", (9, 0)), Some(168));
        assert_eq!(table.registers("product", (8, 0)), None);
        assert_eq!(table.registers("sum", (12, 0)), None);
        assert_eq!(table.registers("other", (9, 0)), None);
    }

    #[test]
    fn a_part_of_a_table_has_the_kernels_of_its_gpus() {
        let part = table().on_gpus(&["sm_90", "sm_80"]);
        assert!(
            part.to_string()
                .ends_with("\nkernel sm_80 sm_90\nsum 32 40\n")
        );
        let part = table().on_gpus(&["sm_90a"]);
        assert!(part.to_string().ends_with("\nkernel sm_90a\nproduct 168\n"));
    }

    #[test]
    fn kernels_that_differ_are_named() {
        let mut other = table();
        assert!(table().differences(&other).is_empty());
        other.insert("sum", "sm_90a", 41);
        other.insert("new", "sm_80", 8);
        assert_eq!(
            table().differences(&other),
            ["new: missing, now 8 - -", "sum: 32 40 -, now 32 40 41"]
        );
    }

    #[test]
    fn nonsense_names_its_line() {
        for (text, line) in [
            ("ptxas 13.0.88\nkernel sm_80\nsum x", 3),
            ("kernel sm_80 sm_90\nsum 32", 2),
            ("ptxas 13.0 more", 1),
            ("sum", 1),
        ] {
            assert_eq!(
                text.parse::<RegisterTable>(),
                Err(TableError { line }),
                "{text}"
            );
        }
    }
}
