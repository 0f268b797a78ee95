//! `cargo xtask ptxas`: assembles the checked-in PTX and checks its cost.

mod defects;
mod registers;

pub use registers::table_is_of_the_ptx;

use crate::sass;
use crate::workspace::{Result, workspace_root};
use lexopt::Arg::Long;
use lexopt::ValueExt as _;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use source_hash::sha256;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};
use tempfile::TempDir;
use tilewright_ptxas::{
    ARCHITECTURES, Assembler, Module, RegisterTable, costs, modules, modules_for, output,
};

/// The GPUs that the modules are assembled for.
const TARGETS: [&str; 9] = [
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120",
];

/// The target without register tuning: its spills are printed, but are not defects.
const UNTUNED: &str = "sm_120";

/// The target whose product loops are checked.
const PRODUCTS_ON: &str = "sm_90a";

pub fn run(mut arguments: lexopt::Parser) -> Result {
    let (mut write, mut gpus, mut seed) = (false, TARGETS.to_vec(), None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("write") => write = true,
            Long("on") => gpus = chosen(&arguments.value()?.string()?)?,
            // An eighth of the modules, drawn by the text.
            Long("draw") => seed = Some(arguments.value()?.string()?),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if write && (gpus.len() < TARGETS.len() || seed.is_some()) {
        return Err("the table is of all kernels and GPUs: --write without --on and --draw".into());
    }
    let (table, mut found) = assemble_all(&Tools::find()?, &gpus, seed.as_deref())?;
    if !write {
        found.extend(registers::defects(&table, &gpus, seed.is_none()));
    }
    for arch in ARCHITECTURES {
        for module in modules(&workspace_root(), arch)? {
            found.extend(defects::generic_accesses(&module.path)?);
        }
    }
    if found.is_empty() {
        if write {
            // A table is only written for PTX without defects.
            registers::write(&table)?;
        }
        println!(
            "no kernel spills but on {UNTUNED}, accesses memory without a state space, has a stack frame \
             that it is not there to show, waits for products that could run beside it, or has a slow \
             loop of products"
        );
        return Ok(());
    }
    Err(found.join("\n       ").into())
}

/// The GPUs of a list of names.
fn chosen(names: &str) -> Result<Vec<&'static str>> {
    let gpu = |name| {
        let gpu = TARGETS.into_iter().find(|gpu| *gpu == name);
        gpu.ok_or_else(|| format!("no kernel is assembled for {name:?}").into())
    };
    names.split(',').map(gpu).collect()
}

/// Whether a module is among the eighth that a text draws. Images of one module for several architectures are together.
fn is_drawn(module: &Module, seed: Option<&str>) -> bool {
    let Some(seed) = seed else { return true };
    let file = module.path.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let name = file.split('.').next().unwrap_or_default();
    let hash = sha256(format!("{seed} {name}").as_bytes());
    hash.starts_with(['0', '8'])
}

/// The registers of the kernels on these GPUs, of all modules or of those that `seed` draws, and their defects.
fn assemble_all(
    tools: &Tools,
    gpus: &[&str],
    seed: Option<&str>,
) -> Result<(RegisterTable, Vec<String>)> {
    let mut table = registers::empty_table(&tools.version, gpus)?;
    let (mut found, mut loops) = (Vec::new(), 0);
    for target in TARGETS.into_iter().filter(|gpu| gpus.contains(gpu)) {
        let mut modules = modules_for(&workspace_root(), target)?;
        modules.retain(|module| is_drawn(module, seed));
        for assembled in tools.assemble_all(&modules, target)? {
            for cost in costs(&assembled.log) {
                if let Some(registers) = cost.registers {
                    println!("{target} {:36} {registers:3} registers", cost.name);
                    table.insert(&cost.name, target, registers);
                }
                match defects::of_cost(&cost, target) {
                    Some(defect) if target == UNTUNED => println!("{defect}"),
                    defect => found.extend(defect),
                }
            }
            found.extend(defects::serialised(&assembled.log).map(str::to_owned));
            if let Some(listing) = &assembled.listing {
                let (of_listing, slow) = slow_loops(listing)?;
                loops += of_listing;
                found.extend(slow);
            }
        }
    }
    if tools.disassembler.is_none() {
        println!("the loops of products were not looked at: nvdisasm is not beside ptxas");
    } else if loops == 0 && gpus.contains(&PRODUCTS_ON) && seed.is_none() {
        found.push(format!("no kernel for {PRODUCTS_ON} multiplies"));
    }
    Ok((table, found))
}

/// The programs of the CUDA toolkit.
struct Tools {
    assembler: Assembler,
    version: String,
    disassembler: Option<PathBuf>,
    /// The folder for machine code.
    folder: TempDir,
    /// A cache of the tools' output, by input.
    cache: PathBuf,
}

/// The tools' output for a module.
#[derive(Serialize, Deserialize)]
struct Assembled {
    log: String,
    /// The machine code of products.
    listing: Option<String>,
}

impl Tools {
    fn find() -> Result<Self> {
        let assembler = Assembler::find()?;
        let cache = workspace_root().join("target/ptxas-cache");
        fs::create_dir_all(&cache)?;
        Ok(Self {
            disassembler: assembler.sibling("nvdisasm"),
            version: assembler.version()?,
            assembler,
            folder: TempDir::new()?,
            cache,
        })
    }

    /// The tools' output for each module, in order.
    fn assemble_all(&self, modules: &[Module], target: &str) -> Result<Vec<Assembled>> {
        let assembled = modules
            .par_iter()
            .map(|module| self.assemble_once(module, target));
        Ok(assembled.collect::<Result<_, String>>()?)
    }

    /// The tools' output for a module, possibly cached.
    fn assemble_once(&self, module: &Module, target: &str) -> Result<Assembled, String> {
        let at = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        let ptx = fs::read(&module.path).map_err(|error| at(&module.path, error))?;
        let is_listed = target == PRODUCTS_ON && self.disassembler.is_some();
        let mut given = format!("{} {target} {is_listed}\n", self.version).into_bytes();
        given.extend(ptx);
        let file = self.cache.join(sha256(&given)).with_extension("json");
        let known = fs::read(&file).ok();
        if let Some(known) = known.and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok(known);
        }
        let assembled = self.assemble(module, target)?;
        let text = serde_json::to_vec(&assembled).map_err(|error| error.to_string())?;
        fs::write(&file, text).map_err(|error| at(&file, error))?;
        Ok(assembled)
    }

    fn assemble(&self, module: &Module, target: &str) -> Result<Assembled, String> {
        let stem = module.path.file_stem().unwrap_or_default();
        let machine_code = self.folder.path().join(stem).with_extension("cubin");
        let log = self
            .assembler
            .assemble(&module.path, target, Some(&machine_code))?;
        let listing = match &self.disassembler {
            Some(disassembler) if target == PRODUCTS_ON => {
                let mut disassembler = Command::new(disassembler);
                let listing = output(disassembler.arg("--print-code").arg(&machine_code))?.stdout;
                Some(String::from_utf8_lossy(&listing).into_owned())
            }
            _ => None,
        };
        Ok(Assembled { log, listing })
    }
}

/// Prints the product loops of a listing, and returns their number and their defects.
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
