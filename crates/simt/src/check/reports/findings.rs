//! The distinct findings after which a launch has continued.

use crate::basics::{AccessKind, Finding, Suppression, lock};
use crate::check::cells::cell::Conflict;
use crate::check::cells::event::{Event, EventKind};
use crate::check::cells::site::Site;
use std::mem::{self, Discriminant};
use std::sync::{Arc, Mutex};

/// A launch that makes its findings this often ends: a loop may wait for a write of another thread that nothing orders.
const MOST_TIMES: u64 = 1 << 16;

/// The findings after which a launch continues.
#[derive(Default)]
pub(crate) struct Findings {
    kernel: String,
    /// The number of distinct findings that ends the launch.
    limit: usize,
    suppressions: Arc<[Suppression]>,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    all: Vec<Listed>,
    /// How often the findings that are not suppressed were made, in total.
    times: u64,
}

/// A finding, and how often it was made.
struct Listed {
    key: Key,
    /// The number of its block: the lowest of several.
    block: u32,
    times: u64,
    what: What,
}

enum What {
    Reported(Box<Finding>),
    /// By the suppression of this number.
    Suppressed(usize),
}

/// The key by which equal findings are listed once: the conflict, the two lines, and the memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::check) struct Key {
    conflict: Discriminant<Conflict>,
    is_atomic: bool,
    sites: [u32; 2],
    /// The start of the allocation, or of the array in shared memory.
    memory: usize,
}

impl Key {
    /// The key of a conflict after which a launch can continue: its memory exists, and no instruction lacks an input.
    pub fn of(access: AccessKind, conflict: &Conflict, site: Site, memory: usize) -> Option<Self> {
        let (conflict, other, other_site) = match *conflict {
            Conflict::UnorderedOthers(event) => {
                (Conflict::Unordered(Event::NOTHING), Some(event), event.site)
            }
            Conflict::Unordered(event) | Conflict::InFlight(event) | Conflict::Stale(event) => {
                (*conflict, Some(event), event.site)
            }
            Conflict::ReadOnly(other) => (*conflict, None, other),
            Conflict::Unwritten => (*conflict, None, site),
            _ => return None,
        };
        let is_atomic = EventKind::from(access).is_atomic()
            || other.is_some_and(|event| event.kind.is_atomic());
        let (one, other) = (site.to_bits(), other_site.to_bits());
        Some(Self {
            conflict: mem::discriminant(&conflict),
            is_atomic,
            sites: [one.min(other), one.max(other)],
            memory,
        })
    }
}

impl Findings {
    /// The findings of a launch of `kernel` that begins now and ends with finding number `limit`.
    pub fn new(kernel: &str, limit: usize, suppressions: &Arc<[Suppression]>) -> Self {
        suppressions.iter().for_each(|it| it.note_launch(kernel));
        Self {
            kernel: kernel.to_owned(),
            limit,
            suppressions: Arc::clone(suppressions),
            list: Mutex::default(),
        }
    }

    /// Adds a finding of a thread of block number `block`, which `describe` describes.
    ///
    /// # Errors
    ///
    /// The finding, if the launch must not continue.
    pub(in crate::check) fn add(
        &self,
        key: Key,
        block: u32,
        describe: impl Fn() -> Finding,
    ) -> Result<(), Box<Finding>> {
        let mut list = lock(&self.list);
        let List { all, times } = &mut *list;
        let Some(listed) = all.iter_mut().find(|listed| listed.key == key) else {
            let listed = self.first_of(key, block, describe().with_calls());
            let others = all.iter().filter(|it| it.what.is_reported()).count();
            return match listed.what {
                What::Reported(finding) if others + 1 >= self.limit => Err(finding),
                _ => {
                    all.push(listed);
                    Ok(())
                }
            };
        };
        listed.times += 1;
        match &mut listed.what {
            What::Suppressed(_) => return Ok(()),
            What::Reported(finding) if block < listed.block => {
                listed.block = block;
                **finding = describe().with_calls();
            }
            What::Reported(_) => {}
        }
        *times += 1;
        match *times < MOST_TIMES {
            true => Ok(()),
            false => Err(Box::new(describe().known())),
        }
    }

    /// A finding that is not in the list.
    fn first_of(&self, key: Key, block: u32, finding: Finding) -> Listed {
        let mut suppressions = self.suppressions.iter();
        let covering = suppressions.position(|it| it.covers(&self.kernel, &finding));
        let what = match covering {
            Some(number) => What::Suppressed(number),
            None => What::Reported(Box::new(finding)),
        };
        Listed {
            key,
            block,
            times: 1,
            what,
        }
    }

    /// Whether all findings are suppressed.
    pub fn are_none(&self) -> bool {
        !lock(&self.list).all.iter().any(|it| it.what.is_reported())
    }

    /// Takes the findings out of the list, in the order in which they were made, with their blocks' numbers and how
    /// often each was made. Suppressed ones are counted in their suppressions.
    pub fn take(&self) -> Vec<(u64, u64, Finding)> {
        let reported = |listed: Listed| match listed.what {
            What::Reported(finding) => Some((u64::from(listed.block), listed.times, *finding)),
            What::Suppressed(number) => {
                self.suppressions[number].note_matches(listed.times);
                None
            }
        };
        let all = mem::take(&mut lock(&self.list).all);
        all.into_iter().filter_map(reported).collect()
    }
}

impl What {
    fn is_reported(&self) -> bool {
        matches!(self, Self::Reported(_))
    }
}
