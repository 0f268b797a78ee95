//! The functions that a device has launched, which launches find without a lock.

use super::function::{Function, Key};
use crate::backend::Entry;
use cuda_std::signature::Signature;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Places of the table: more than a program has kernels. A function without a place is found under the modules' lock.
const PLACES: usize = 1024;

/// Places that one kernel may have.
const ATTEMPTS: usize = 8;

/// A hash table that only grows, so that a reader needs no more than loads.
#[derive(Debug)]
pub struct Known {
    places: Box<[OnceLock<Box<Launchable>>]>,
}

/// A function that is ready to be launched.
#[derive(Debug)]
struct Launchable {
    key: Key,
    /// The signature that was compared when the function was looked up.
    signature: Option<&'static Signature>,
    function: Function,
    /// Bytes of dynamic shared memory that launches may use so far.
    dynamic_shared_bytes: AtomicU32,
}

impl Launchable {
    /// Whether this is the signature. Most are at one address, which is compared faster than the text.
    fn has_signature(&self, signature: Option<&'static Signature>) -> bool {
        self.signature.map(ptr::from_ref) == signature.map(ptr::from_ref)
            || self.signature == signature
    }
}

/// The numbers of a key's places, the first one first.
fn places(key: Key) -> impl Iterator<Item = usize> {
    let first = key.mixed() >> (u64::BITS - PLACES.ilog2());
    (0..ATTEMPTS).map(move |attempt| (first as usize + attempt) % PLACES)
}

impl Default for Known {
    fn default() -> Self {
        Self {
            places: (0..PLACES).map(|_| OnceLock::new()).collect(),
        }
    }
}

impl Known {
    /// The function of an entry that was launched before with as much dynamic shared memory.
    pub fn get(&self, entry: &Entry, dynamic_shared_bytes: u32) -> Option<&Function> {
        let known = self.find(Key::of(entry))?;
        let is_allowed = dynamic_shared_bytes <= known.dynamic_shared_bytes.load(Ordering::Acquire);
        (is_allowed && known.has_signature(entry.signature)).then_some(&known.function)
    }

    /// Adds the function of an entry, or notes how much dynamic shared memory it may use now.
    pub fn add(&self, entry: &Entry, function: Function) {
        let key = Key::of(entry);
        for place in places(key) {
            let known = self.places[place].get_or_init(|| {
                Box::new(Launchable {
                    key,
                    signature: entry.signature,
                    function,
                    dynamic_shared_bytes: AtomicU32::new(0),
                })
            });
            if known.key == key {
                let bytes = function.dynamic_shared_bytes;
                known
                    .dynamic_shared_bytes
                    .fetch_max(bytes, Ordering::Release);
                return;
            }
        }
    }

    fn find(&self, key: Key) -> Option<&Launchable> {
        let known = places(key).map_while(|place| self.places[place].get());
        known.map(|it| &**it).find(|it| it.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module_source::ModuleSource;
    use cuda_std::signature::Layout;

    // SAFETY: there are no images.
    static ONE: ModuleSource = unsafe { ModuleSource::new("one", &[]) };
    // SAFETY: there are no images.
    static OTHER: ModuleSource = unsafe { ModuleSource::new("other", &[]) };

    /// A function, identified by its registers.
    fn function(registers: u32, dynamic_shared_bytes: u32) -> Function {
        Function {
            raw: ptr::null_mut(),
            max_threads: 1024,
            registers,
            static_shared_bytes: 0,
            has_statics: false,
            dynamic_shared_bytes,
        }
    }

    fn entry(module: &'static ModuleSource, kernel: &'static str) -> Entry {
        Entry {
            module,
            kernel,
            signature: None,
        }
    }

    #[test]
    fn a_function_is_found_by_its_module_name_and_signature() {
        let known = Known::default();
        let registers = |entry: &Entry| known.get(entry, 0).map(|it| it.registers);
        let (f, g) = (entry(&ONE, "f"), entry(&ONE, "g"));
        known.add(&f, function(1, 0));
        known.add(&g, function(2, 0));
        assert_eq!((registers(&f), registers(&g)), (Some(1), Some(2)));
        assert_eq!(registers(&entry(&OTHER, "f")), None);
        static SIGNATURE: Signature = Signature::new("f(f32)", &[Layout::of::<f32>()]);
        let other = Entry {
            signature: Some(&SIGNATURE),
            ..f
        };
        assert_eq!(registers(&other), None);
    }

    #[test]
    fn more_dynamic_shared_memory_is_noted() {
        let (known, f) = (Known::default(), entry(&ONE, "f"));
        known.add(&f, function(1, 100));
        assert!(known.get(&f, 100).is_some() && known.get(&f, 101).is_none());
        known.add(&f, function(1, 300));
        assert!(known.get(&f, 300).is_some() && known.get(&f, 301).is_none());
        known.add(&f, function(1, 200));
        assert!(known.get(&f, 300).is_some());
    }

    #[test]
    fn a_full_table_keeps_what_it_has() {
        let known = Known::default();
        let names: Vec<&'static str> = (0..4 * PLACES)
            .map(|number| &*Box::leak(format!("kernel {number}").into_boxed_str()))
            .collect();
        let mut found = Vec::new();
        for (number, name) in (0..).zip(&names) {
            known.add(&entry(&ONE, name), function(number, 0));
            if known.get(&entry(&ONE, name), 0).is_some() {
                found.push((name, number));
            }
        }
        assert!(found.len() > PLACES / 2);
        for (name, number) in found {
            let registers = known.get(&entry(&ONE, name), 0).map(|it| it.registers);
            assert_eq!(registers, Some(number));
        }
    }
}
