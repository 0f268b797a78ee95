//! Kernels of which one synchronising instruction is removed, and what the simulator says of them.

use super::cases::Case;
use crate::common::text;
use ptx::Kernels;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tilewright::{
    Device, Error, ErrorKind, KernelBodies, KernelCall, Profile, Result, SimulatorOptions,
};

/// The architectures of images that an A100 can run, from the newest.
const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_75"];

/// Instructions that order accesses, by the start of their names. Shuffles and votes do more: without them a kernel
/// computes something else.
const SYNCHRONISING: [&str; 5] = ["bar.", "barrier.", "membar.", "fence.", "cp.async.wait_"];

/// A mutant that waits for ever ends as a finding.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A synchronising instruction of a kernel.
#[derive(Clone)]
pub struct Place {
    pub kernel: &'static str,
    /// Its number among the kernel's synchronising instructions, from 0.
    pub number: usize,
    /// Its line in the PTX, from 0.
    line: usize,
    instruction: String,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            number,
            instruction,
            ..
        } = self;
        write!(formatter, "`{kernel}` | {number}: `{instruction}`")
    }
}

/// What becomes of an instruction.
#[derive(Clone, Copy)]
enum Change {
    Removed,
    /// The launch ends where the instruction is reached.
    Trap,
}

/// What the simulator makes of a mutant.
#[derive(Debug)]
pub enum Verdict {
    /// The case does not execute the instruction.
    NotReached,
    /// Under this seed there were findings of these kinds.
    Finding(u64, BTreeSet<String>),
    /// Under this seed the results were others.
    WrongBits(u64),
    /// No seed makes a difference.
    NoDifference,
}

impl Verdict {
    /// The name of its kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotReached => "not reached",
            Self::Finding(..) => "finding",
            Self::WrongBits(_) => "wrong bits",
            Self::NoDifference => "no difference",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finding(seed, kinds) => {
                let kinds = kinds.iter().map(String::as_str).collect::<Vec<_>>();
                write!(formatter, "{} | {seed}", kinds.join(", "))
            }
            Self::WrongBits(seed) => write!(formatter, "{} | {seed}", self.name()),
            Self::NotReached | Self::NoDifference => write!(formatter, "{} | ", self.name()),
        }
    }
}

/// The PTX of a kernel that an A100 runs.
fn image(kernel: &str) -> Option<String> {
    ARCHITECTURES.iter().find_map(|arch| text(kernel, arch))
}

/// The instruction of a line without its predicate.
fn instruction(line: &str) -> &str {
    let line = line.trim();
    match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ').map_or("", |(_, it)| it.trim()),
        None => line,
    }
}

/// The synchronising instructions of a kernel.
fn places(kernel: &'static str) -> Vec<Place> {
    let text = image(kernel).unwrap_or_else(|| panic!("no PTX of {kernel}"));
    let lines = text.lines().map(instruction).enumerate();
    let found = lines.filter(|(_, it)| SYNCHRONISING.iter().any(|name| it.starts_with(name)));
    let place = |(number, (line, instruction)): (usize, (usize, &str))| Place {
        kernel,
        number,
        line,
        instruction: instruction.trim_end_matches(';').replace(" \t", " "),
    };
    found.enumerate().map(place).collect()
}

/// The PTX of a kernel with a change at one place, if the place is the kernel's.
fn changed(kernel: &str, place: &Place, change: Change) -> Option<String> {
    let text = image(kernel)?;
    if kernel != place.kernel {
        return Some(text);
    }
    let with = match change {
        Change::Removed => "",
        Change::Trap => "trap;",
    };
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| if number == place.line { with } else { line });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// A simulated A100 that runs `ptx` of each kernel, and tells `ran` its name.
fn device(
    seed: u64,
    kernels: &Arc<Kernels>,
    ptx: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ran: impl Fn(&'static str) + Send + Sync + 'static,
) -> Device {
    let kernels = Arc::clone(kernels);
    let choose = move |call: &KernelCall<'_>| {
        ran(call.name);
        let kernel = kernels.get(call.name, call.name, || ptx(call.name));
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
        // SAFETY: the parameters are the kernel's, and simulated devices refuse memory that is not theirs.
        Some(unsafe { kernel.body(&call.parameters) }.unwrap_or_else(|error| panic!("{error}")))
    };
    // SAFETY: the PTX was compiled from the kernels. A mutant accesses the same memory: what it lacks is order, and
    // the simulator checks each access.
    let bodies = unsafe { KernelBodies::new(choose) };
    let options = SimulatorOptions::default()
        .with_profile(Profile::A100)
        .with_multiprocessors(4)
        .with_parallel_blocks(false)
        .with_time_limit(TIME_LIMIT)
        .with_seed(seed);
    Device::simulator_with(options.with_bodies(bodies))
}

/// The bits that a case returns without a change, and the synchronising instructions of the kernels that it runs.
pub fn unchanged(case: &Case) -> (Vec<u8>, Vec<Place>) {
    let names = Arc::new(Mutex::new(BTreeSet::new()));
    let of_launches = Arc::clone(&names);
    let note = move |name| {
        of_launches.lock().unwrap().insert(name);
    };
    let device = device(0, &Arc::default(), image, note);
    let bits = (case.call)(&device).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let names = names.lock().unwrap();
    assert!(
        names.contains(case.kernel),
        "{} is not among {names:?}",
        case.kernel
    );
    (bits, places(case.kernel))
}

/// The results of a case with a change, one for each seed.
fn results(
    case: &Case,
    place: &Place,
    change: Change,
    seeds: Range<u64>,
) -> impl Iterator<Item = Result<Vec<u8>>> {
    let kernels = Arc::new(Kernels::default());
    seeds.map(move |seed| {
        let place = place.clone();
        let ptx = move |kernel: &str| changed(kernel, &place, change);
        (case.call)(&device(seed, &kernels, ptx, |_| ()))
    })
}

/// The kinds of findings that an error has.
fn kinds(error: &Error) -> BTreeSet<String> {
    let ErrorKind::KernelDefect(defect) = error.kind() else {
        panic!("{error}");
    };
    defect.all().map(|it| it.kind.to_string()).collect()
}

/// What the simulator makes of a case whose kernel lacks an instruction.
pub fn verdict(case: &Case, bits: &[u8], place: &Place, seeds: Range<u64>) -> Verdict {
    let mut trapped = results(case, place, Change::Trap, 0..1);
    if trapped.all(|it| it.is_ok()) {
        return Verdict::NotReached;
    }
    let results = results(case, place, Change::Removed, seeds.clone());
    for (seed, result) in seeds.zip(results) {
        match result {
            Ok(found) if found == bits => {}
            Ok(_) => return Verdict::WrongBits(seed),
            Err(error) => return Verdict::Finding(seed, kinds(&error)),
        }
    }
    Verdict::NoDifference
}
