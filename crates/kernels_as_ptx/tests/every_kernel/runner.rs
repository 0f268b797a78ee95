//! Runs each case as Rust, and as the images that no earlier case has run.

use crate::cases::Case;
use crate::common::text;
use ptx::Kernels;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tilewright::{Device, KernelBodies, KernelCall, SimulatorOptions};

/// A kernel as the PTX of an architecture.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    pub kernel: String,
    pub architecture: String,
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} for {}", self.kernel, self.architecture)
    }
}

/// All checked-in images of the library, from its manifest.
pub fn images() -> BTreeSet<Image> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ptx/MANIFEST");
    let manifest = std::fs::read_to_string(path).unwrap();
    let image = |line: &str| {
        let mut words = line.strip_prefix("module ")?.split(' ');
        let (architecture, kernel) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some(Image {
            kernel,
            architecture,
        })
    };
    let images: BTreeSet<Image> = manifest.lines().filter_map(image).collect();
    assert!(images.len() > 1000, "{} images", images.len());
    images
}

type Names = Arc<Mutex<BTreeSet<String>>>;

/// What has run, of what is to run.
pub struct Runner {
    images: BTreeSet<Image>,
    architectures: BTreeSet<String>,
    /// Those that a case has claimed: each image runs in one case, which takes several times as long as Rust.
    claimed: Arc<Mutex<BTreeSet<Image>>>,
    ran: Mutex<BTreeSet<Image>>,
}

impl Default for Runner {
    fn default() -> Self {
        let images = images();
        Self {
            architectures: images.iter().map(|it| it.architecture.clone()).collect(),
            images,
            claimed: Arc::default(),
            ran: Mutex::default(),
        }
    }
}

impl Runner {
    /// Runs the cases, several at a time.
    pub fn run_all(&self, cases: &[Case]) {
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.run(case);
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            (0..threads).for_each(|_| {
                scope.spawn(work);
            });
        });
    }

    /// The images that have run, with the bits of Rust.
    pub fn ran(&self) -> BTreeSet<Image> {
        self.ran.lock().unwrap().clone()
    }

    fn run(&self, case: &Case) {
        let launched = Names::default();
        // What the checks find in kernels as Rust, the library's own tests see.
        let as_rust = case.options.clone().with_checks(false);
        let expected = case.bits_on(&device(as_rust, &launched, |_| None));
        let launched = launched.lock().unwrap().clone();
        for architecture in &self.architectures {
            let images = self.claim(&launched, architecture);
            if images.is_empty() {
                continue;
            }
            let ran = Names::default();
            let found = case.bits_on(&as_ptx(case, &images, &ran));
            assert!(found == expected, "{}: other bits: {images:?}", case.name);
            let ran = ran.lock().unwrap();
            let images = images.into_iter().filter(|it| ran.contains(&it.kernel));
            self.ran.lock().unwrap().extend(images);
        }
    }

    /// Those of the kernels' images for an architecture that no case has claimed.
    fn claim(&self, kernels: &BTreeSet<String>, architecture: &str) -> BTreeSet<Image> {
        let mut claimed = self.claimed.lock().unwrap();
        let images = kernels.iter().map(|kernel| Image {
            kernel: kernel.clone(),
            architecture: architecture.to_owned(),
        });
        let images = images.filter(|it| self.images.contains(it) && !claimed.contains(it));
        let images: BTreeSet<Image> = images.collect();
        claimed.extend(images.iter().cloned());
        images
    }
}

/// A device on which `choose` says what a kernel runs as, and which lists the kernels.
fn device(
    options: SimulatorOptions,
    launched: &Names,
    choose: impl Fn(&KernelCall<'_>) -> Option<simt::Body> + Send + Sync + 'static,
) -> Device {
    let launched = Arc::clone(launched);
    let noting = move |call: &KernelCall<'_>| {
        launched.lock().unwrap().insert(call.name.to_owned());
        choose(call)
    };
    // SAFETY: the kernels stay as they are, or run as the PTX that was compiled from them.
    let bodies = unsafe { KernelBodies::new(noting) };
    Device::simulator_with(options.with_bodies(bodies))
}

/// A device whose kernels run as these images, and all others as Rust. It lists what it has run.
fn as_ptx(case: &Case, images: &BTreeSet<Image>, ran: &Names) -> Device {
    let kernels = Kernels::default();
    let images = images.clone();
    let choose = move |call: &KernelCall<'_>| {
        let image = images.iter().find(|it| it.kernel == call.name)?;
        let read = || text(call.name, &image.architecture);
        let kernel = kernels.get(call.name, call.name, read);
        let kernel = kernel.unwrap_or_else(|it| panic!("{image:?}: {it}"));
        // SAFETY: the parameters are the kernel's, and simulated devices refuse memory that is not theirs.
        Some(unsafe { kernel.body(&call.parameters) }.unwrap_or_else(|it| panic!("{it}")))
    };
    device(case.options.clone(), ran, choose)
}
