//! Calls of the library, on devices that make it choose certain kernels.

use tilewright::{Device, Element, Profile, Result, SimulatorOptions};

type Call = Box<dyn Fn(&Device) -> Result<Vec<u8>> + Send + Sync>;

/// A call of the library.
pub struct Case {
    pub name: String,
    pub options: SimulatorOptions,
    call: Call,
}

impl Case {
    /// The bits of the results on a device.
    pub fn bits_on(&self, device: &Device) -> Vec<u8> {
        (self.call)(device).unwrap_or_else(|it| panic!("{}: {it}", self.name))
    }
}

/// A list of cases on one kind of device.
pub struct Cases {
    list: Vec<Case>,
    options: SimulatorOptions,
}

impl Cases {
    /// No cases yet.
    pub fn new() -> Self {
        let mut cases = Self {
            list: Vec::new(),
            options: SimulatorOptions::default(),
        };
        cases.on_few_multiprocessors();
        cases
    }

    /// The next cases are on a device that small results fill.
    pub fn on_few_multiprocessors(&mut self) {
        self.on_multiprocessors(8);
    }

    /// The next cases are on a device of this many multiprocessors.
    pub fn on_multiprocessors(&mut self, count: u32) {
        self.options = SimulatorOptions::default().with_multiprocessors(count);
    }

    /// The next cases are on what stands for a named device.
    pub fn on_profile(&mut self, profile: Profile) {
        self.options = SimulatorOptions::default().with_profile(profile);
    }

    pub fn add(
        &mut self,
        name: impl Into<String>,
        call: impl Fn(&Device) -> Result<Vec<u8>> + Send + Sync + 'static,
    ) {
        self.list.push(Case {
            name: name.into(),
            options: self.options.clone(),
            call: Box::new(call),
        });
    }

    pub fn finish(self) -> Vec<Case> {
        self.list
    }
}

/// The bytes of values.
pub fn bytes<T: Element>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}
