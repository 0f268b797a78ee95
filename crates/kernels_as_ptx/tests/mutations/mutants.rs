//! Kernels without one of their synchronising instructions, and what the simulator says of them.

use super::cases::Case;
use crate::common::image;
use ptx::Kernels;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tilewright::{
    Device, Error, ErrorKind, KernelBodies, KernelCall, Profile, Result, SimulatorOptions,
};

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

/// The instruction of a line without its predicate.
fn instruction(line: &str) -> &str {
    let line = line.trim();
    match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ').map_or("", |(_, it)| it.trim()),
        None => line,
    }
}

/// The synchronising instructions of a kernel.
fn places(case: &Case) -> Vec<Place> {
    let Case {
        kernel, profile, ..
    } = *case;
    let text = image(kernel, profile).unwrap_or_else(|| panic!("no PTX of {kernel}"));
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

/// A text with another line in place of one, whose number is from 0.
fn with_line(text: &str, changed: usize, with: &str) -> String {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| if number == changed { with } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// A simulated device that runs `ptx` of each kernel, and tells `ran` its name.
fn device(
    profile: Profile,
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
        .with_profile(profile)
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
    let profile = case.profile;
    let ptx = move |kernel: &str| image(kernel, profile);
    let device = device(profile, 0, &Arc::default(), ptx, note);
    let bits = (case.call)(&device).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let names = names.lock().unwrap();
    assert!(
        names.contains(case.kernel),
        "{} is not among {names:?}",
        case.kernel
    );
    (bits, places(case))
}

/// The results of a case whose kernel's PTX is edited, one for each seed.
fn results(
    case: &Case,
    edit: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
    seeds: Range<u64>,
) -> impl Iterator<Item = Result<Vec<u8>>> {
    let kernels = Arc::new(Kernels::default());
    let Case {
        kernel,
        profile,
        call,
        ..
    } = *case;
    seeds.map(move |seed| {
        let edit = edit.clone();
        let ptx = move |name: &str| {
            let text = image(name, profile)?;
            Some(if name == kernel { edit(&text) } else { text })
        };
        call(&device(profile, seed, &kernels, ptx, |_| ()))
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
    let line = place.line;
    if !is_reached(case, line) {
        return Verdict::NotReached;
    }
    verdict_of_edit(case, bits, move |text| with_line(text, line, ""), seeds)
}

/// Whether a case executes a line of its kernel: the launch ends there if there is a trap.
pub fn is_reached(case: &Case, line: usize) -> bool {
    let mut trapped = results(case, move |text| with_line(text, line, "trap;"), 0..1);
    trapped.any(|it| it.is_err())
}

/// What the simulator makes of a case whose kernel's PTX is edited.
pub fn verdict_of_edit(
    case: &Case,
    bits: &[u8],
    edit: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
    seeds: Range<u64>,
) -> Verdict {
    for (seed, result) in seeds.clone().zip(results(case, edit, seeds)) {
        match result {
            Ok(found) if found == bits => {}
            Ok(_) => return Verdict::WrongBits(seed),
            Err(error) => return Verdict::Finding(seed, kinds(&error)),
        }
    }
    Verdict::NoDifference
}
