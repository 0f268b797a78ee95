//! `cargo xtask ptxas`: assembles the checked-in PTX and reads what it costs.

use crate::ptx::CRATES;
use crate::{Result, sass};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};
use tempfile::TempDir;

/// The GPUs that the modules are assembled for, as (module, assembled for).
const TARGETS: [(&str, &str); 6] = [
    ("sm_75", "sm_75"),
    ("sm_80", "sm_80"),
    ("sm_80", "sm_86"),
    ("sm_80", "sm_89"),
    ("sm_80", "sm_90"),
    ("sm_90a", "sm_90a"),
];

/// The architectures of the checked-in modules.
const ARCHITECTURES: [&str; 3] = ["sm_75", "sm_80", "sm_90a"];

/// The assembler's remarks that products of a warpgroup do not run beside their warps, or that
/// `setmaxnreg` has no effect.
const SERIALISED: [&str; 11] = [
    "C7508", "C7510", "C7511", "C7512", "C7513", "C7514", "C7515", "C7516", "C7517", "C7518",
    "C7519",
];

/// The target whose products run in loops that are looked at.
const PRODUCTS_ON: &str = "sm_90a";

/// Kernels that show what a stack frame costs. They must have one.
const STACK_FRAMES: [&str; 1] = ["memory_local_array"];

/// What one kernel costs on one GPU.
#[derive(Debug, PartialEq, Eq)]
struct Cost {
    kernel: String,
    registers: u32,
    stack_bytes: u32,
    spill_bytes: u32,
}

impl Cost {
    /// What is wrong with it on `target`.
    fn defect(&self, target: &str) -> Option<String> {
        let is_shown = STACK_FRAMES.contains(&self.kernel.as_str());
        if self.spill_bytes == 0 && (self.stack_bytes != 0) == is_shown {
            return None;
        }
        Some(format!(
            "{} uses {} bytes of stack{} and spills {} bytes on {target}",
            self.kernel,
            self.stack_bytes,
            if is_shown {
                ", which it is there to show,"
            } else {
                ""
            },
            self.spill_bytes
        ))
    }
}

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let tools = Tools::find()?;
    let (mut defects, mut loops) = (Vec::new(), 0);
    for (arch, target) in TARGETS {
        for assembled in tools.assemble_all(&modules(arch)?, target)? {
            for cost in costs(&assembled.log) {
                println!("{target} {:36} {:3} registers", cost.kernel, cost.registers);
                defects.extend(cost.defect(target));
            }
            defects.extend(serialised(&assembled.log).map(str::to_owned));
            if let Some(listing) = &assembled.listing {
                let (found, slow) = slow_loops(listing)?;
                loops += found;
                defects.extend(slow);
            }
        }
    }
    if tools.disassembler.is_some() && loops == 0 {
        defects.push(format!("no kernel for {PRODUCTS_ON} multiplies"));
    }
    for arch in ARCHITECTURES {
        for module in modules(arch)? {
            defects.extend(generic_accesses(&module)?);
        }
    }
    if tools.disassembler.is_none() {
        println!("the loops of products were not looked at: nvdisasm is not beside ptxas");
    }
    if defects.is_empty() {
        println!(
            "no kernel spills, accesses memory without a state space, has a stack frame that it is not \
             there to show, waits for products that could run beside it, or has a slow loop of products"
        );
        return Ok(());
    }
    Err(defects.join("\n       ").into())
}

/// The variable that names ptxas, then the PATH, then where CUDA installs it.
fn find_ptxas() -> Result<PathBuf> {
    let named = env::var_os("PTXAS").map(PathBuf::from);
    let on_path = env::var_os("PATH").into_iter().flat_map(|path| {
        env::split_paths(&path)
            .map(|folder| folder.join("ptxas"))
            .collect::<Vec<_>>()
    });
    let candidates = named
        .into_iter()
        .chain(on_path)
        .chain([PathBuf::from("/usr/local/cuda/bin/ptxas")]);
    candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        "ptxas was not found in the variable PTXAS, the PATH or /usr/local/cuda/bin; it comes with \
         the CUDA toolkit and with the Python package nvidia-cuda-nvcc"
            .into()
    })
}

/// The checked-in modules for an architecture.
fn modules(arch: &str) -> Result<Vec<PathBuf>> {
    let mut modules = Vec::new();
    for kernels in &CRATES {
        modules.extend(kernels.modules(arch)?);
    }
    Ok(modules)
}

/// The programs of the CUDA toolkit.
struct Tools {
    assembler: PathBuf,
    disassembler: Option<PathBuf>,
    /// Where the machine code goes.
    folder: TempDir,
}

/// What the tools say of a module.
struct Assembled {
    log: String,
    /// The machine code of products.
    listing: Option<String>,
}

impl Tools {
    fn find() -> Result<Self> {
        let assembler = find_ptxas()?;
        let disassembler = assembler.with_file_name("nvdisasm");
        Ok(Self {
            assembler,
            disassembler: Some(disassembler).filter(|path| path.is_file()),
            folder: TempDir::new()?,
        })
    }

    /// What the tools say of each module, in their order.
    fn assemble_all(&self, modules: &[PathBuf], target: &str) -> Result<Vec<Assembled>> {
        let assembled = modules
            .par_iter()
            .map(|module| self.assemble(module, target));
        Ok(assembled.collect::<Result<_, String>>()?)
    }

    fn assemble(&self, module: &Path, target: &str) -> Result<Assembled, String> {
        let stem = module.file_stem().unwrap_or_default().to_string_lossy();
        let machine_code = self.folder.path().join(format!("{stem}.cubin"));
        let mut assembler = Command::new(&self.assembler);
        assembler
            .arg("--verbose")
            .arg(format!("--gpu-name={target}"))
            .arg(module)
            .arg("--output-file")
            .arg(&machine_code);
        let log = output(&mut assembler)?.stderr;
        let listing = match &self.disassembler {
            Some(disassembler) if target == PRODUCTS_ON => {
                let mut disassembler = Command::new(disassembler);
                Some(output(disassembler.arg("--print-code").arg(&machine_code))?.stdout)
            }
            _ => None,
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Assembled {
            log: text(log),
            listing: listing.map(text),
        })
    }
}

/// What a program printed, if it succeeded.
fn output(command: &mut Command) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let log = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} fails:\n{log}"))
}

/// Shows the loops of products of a listing, and returns how many there are and what is wrong with them.
fn slow_loops(listing: &str) -> Result<(usize, Vec<String>)> {
    let kernels = sass::kernels(listing)?;
    let (mut found, mut defects) = (0, Vec::new());
    for kernel in kernels.iter().filter(|it| it.multiplies()) {
        let loops = kernel.product_loops();
        found += loops.len();
        for cost in &loops {
            println!("{PRODUCTS_ON} {:36} loop of {cost}", kernel.name());
            defects.extend(cost.defect(kernel.name()));
        }
        if loops.is_empty() {
            defects.push(format!("no loop of {} multiplies", kernel.name()));
        }
    }
    Ok((found, defects))
}

/// The remarks on products that are serialised.
fn serialised(log: &str) -> impl Iterator<Item = &str> {
    let is_remark = |line: &&str| SERIALISED.iter().any(|remark| line.contains(remark));
    log.lines().filter(is_remark)
}

/// Reads the lines that `ptxas --verbose` prints for each kernel.
fn costs(log: &str) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::new();
    for line in log.lines() {
        if let Some((_, kernel)) = line.split_once("Function properties for ") {
            costs.push(Cost {
                kernel: kernel.trim().to_owned(),
                registers: 0,
                stack_bytes: 0,
                spill_bytes: 0,
            });
        } else if let Some(cost) = costs.last_mut() {
            if let Some(bytes) = number_before(line, " bytes stack frame") {
                cost.stack_bytes = bytes;
                cost.spill_bytes = number_before(line, " bytes spill stores").unwrap_or(0)
                    + number_before(line, " bytes spill loads").unwrap_or(0);
            }
            if let Some(registers) = number_before(line, " registers") {
                cost.registers = registers;
            }
        }
    }
    costs
}

fn number_before(line: &str, unit: &str) -> Option<u32> {
    let (before, _) = line.split_once(unit)?;
    before
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Loads and stores that do not say which memory they access: each costs a check in hardware, and
/// shows that a pointer lost its address space on the way.
fn generic_accesses(module: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(module)?;
    let generic = text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_generic_access(line));
    let describe = |(number, line): (usize, &str)| {
        let (module, number) = (module.display(), number + 1);
        format!("{module}:{number}: generic access: {}", line.trim())
    };
    Ok(generic.map(describe).collect())
}

fn is_generic_access(line: &str) -> bool {
    let instruction = line
        .split_whitespace()
        .find(|word| !word.starts_with('@'))
        .unwrap_or("");
    let mut parts = instruction.split('.');
    let is_access = matches!(parts.next(), Some("ld" | "st" | "atom" | "red"));
    const SPACES: [&str; 5] = ["global", "shared", "param", "const", "local"];
    is_access && !parts.any(|part| SPACES.contains(&part.split("::").next().unwrap_or("")))
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
            ptxas info    : Used 128 registers, used 1 barriers, 33280 bytes smem\n";
        let cost = Cost {
            kernel: "k".to_owned(),
            registers: 128,
            stack_bytes: 24,
            spill_bytes: 36,
        };
        assert_eq!(costs(log), [cost]);
    }

    #[test]
    fn remarks_on_products_are_found() {
        let log = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are \
                   serialized due to insufficient register resources\n\
                   ptxas info    : Used 128 registers, used 1 barriers\n";
        assert_eq!(serialised(log).count(), 1);
        assert!(serialised(log).all(|line| line.contains("C7510")));
    }

    #[test]
    fn stack_frames_are_defects_unless_they_are_shown() {
        let defect = |kernel: &str, stack_bytes, spill_bytes| {
            let cost = Cost {
                kernel: kernel.to_owned(),
                registers: 32,
                stack_bytes,
                spill_bytes,
            };
            cost.defect("sm_90").is_some()
        };
        assert!(!defect("k", 0, 0) && defect("k", 8, 0) && defect("k", 0, 8));
        let shown = STACK_FRAMES[0];
        assert!(!defect(shown, 64, 0) && defect(shown, 0, 0) && defect(shown, 64, 8));
    }

    #[test]
    fn accesses_without_a_state_space_are_found() {
        assert!(is_generic_access("\tld.b32 \t%r1, [%rd1];"));
        assert!(is_generic_access(
            "\t@%p1 st.v4.b32 \t[%rd1], {%r1, %r2, %r3, %r4};"
        ));
        assert!(!is_generic_access(
            "\tld.global.nc.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];"
        ));
        assert!(!is_generic_access("\tst.shared::cta.b32 \t[%r1], %r2;"));
        assert!(!is_generic_access("\tadd.s32 \t%r1, %r2, %r3;"));
    }
}
