//! The registers of the library's and the ladders' kernels, from `ptxas` where it is installed.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Registers of a thread, by the kernel's name, for a compute capability; none where `ptxas` is
/// missing (in the variable PTXAS and on the PATH) or cannot assemble the checked-in PTX.
pub fn registers(compute_capability: (u32, u32)) -> Option<BTreeMap<String, u32>> {
    let (major, minor) = compute_capability;
    let module = if (major, minor) < (8, 0) {
        "sm_75"
    } else {
        "sm_80"
    };
    let mut registers = BTreeMap::new();
    for folder in ["../ptx", "ptx"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(folder).ok()? {
            let source = entry.ok()?.path();
            if source
                .to_string_lossy()
                .ends_with(&format!(".{module}.ptx"))
            {
                registers.extend(registers_of(&source, &format!("sm_{major}{minor}"))?);
            }
        }
    }
    Some(registers)
}

fn registers_of(source: &Path, architecture: &str) -> Option<BTreeMap<String, u32>> {
    let output = Command::new(ptxas())
        .arg("--verbose")
        .arg(format!("--gpu-name={architecture}"))
        .args([
            "--output-file",
            if cfg!(windows) { "NUL" } else { "/dev/null" },
        ])
        .arg(source)
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| parse(&log))
}

fn ptxas() -> PathBuf {
    env::var_os("PTXAS").map_or_else(|| PathBuf::from("ptxas"), PathBuf::from)
}

/// Reads "Function properties for KERNEL" and the "Used N registers" after it.
fn parse(log: &str) -> BTreeMap<String, u32> {
    let mut kernel = None;
    let mut registers = BTreeMap::new();
    for line in log.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            kernel = Some(name.trim().to_owned());
        } else if let Some((_, rest)) = line.split_once("Used ")
            && let Some((count, _)) = rest.split_once(" registers")
            && let (Some(kernel), Ok(count)) = (kernel.take(), count.parse())
        {
            registers.insert(kernel, count);
        }
    }
    registers
}
