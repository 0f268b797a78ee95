//! What a kernel costs on a GPU.

/// What one kernel, or a function that kernels call, costs on one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The name of the kernel or function.
    pub name: String,
    /// Registers of a thread; none for a function that kernels call, whose registers are theirs.
    pub registers: Option<u32>,
    /// Bytes of a thread's stack frame.
    pub stack_bytes: u32,
    /// Bytes that a thread stores and loads because registers do not suffice.
    pub spill_bytes: u32,
}

/// Reads the lines that `ptxas --verbose` prints for each kernel and function.
#[must_use]
pub fn costs(log: &str) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::new();
    for line in log.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            costs.push(Cost {
                name: name.trim().to_owned(),
                registers: None,
                stack_bytes: 0,
                spill_bytes: 0,
            });
        } else if let Some(cost) = costs.last_mut() {
            cost.read(line);
        }
    }
    costs
}

impl Cost {
    /// Reads a line below the name.
    fn read(&mut self, line: &str) {
        if let Some(bytes) = number_before(line, " bytes stack frame") {
            self.stack_bytes = bytes;
            let spills = [" bytes spill stores", " bytes spill loads"];
            self.spill_bytes = spills
                .iter()
                .filter_map(|unit| number_before(line, unit))
                .sum();
        }
        if let Some(registers) = number_before(line, " registers") {
            self.registers = Some(registers);
        }
    }
}

fn number_before(line: &str, unit: &str) -> Option<u32> {
    let (before, _) = line.split_once(unit)?;
    before
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_from_the_log() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
            ptxas info    : Function properties for k\n\
            \x20   24 bytes stack frame, 20 bytes spill stores, 16 bytes spill loads\n\
            ptxas info    : Used 128 registers, used 1 barriers, 33280 bytes smem\n\
            ptxas info    : Compile time = 346.000 ms\n\
            ptxas info    : Function properties for panic_0\n\
            \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
        let kernel = Cost {
            name: "k".to_owned(),
            registers: Some(128),
            stack_bytes: 24,
            spill_bytes: 36,
        };
        let function = Cost {
            name: "panic_0".to_owned(),
            registers: None,
            stack_bytes: 0,
            spill_bytes: 0,
        };
        assert_eq!(costs(log), [kernel, function]);
    }
}
