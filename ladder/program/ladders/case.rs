//! The parts of a ladder, for its authors.

use crate::support::Outcome;
use tilewright::Device;

/// A ladder: the argument of the example that names it, and its sections.
pub struct Ladder {
    pub name: &'static str,
    pub title: &'static str,
    /// The sections, with what is compiled or loaded for `device`, such as rivals.
    pub sections: fn(&Device) -> Outcome<Vec<Section>>,
}

/// Steps that do the same work, and can be compared.
pub struct Section {
    /// A word for file names and `--only`.
    pub name: &'static str,
    pub title: Title,
    pub rate: Rate,
    /// What the parameter of the cases is, such as `threads of a block`; empty where they have
    /// none.
    pub parameter: &'static str,
    /// The step that speed-ups refer to: the first one where it is empty.
    pub baseline: &'static str,
    pub cases: Vec<Case>,
}

/// What a section's steps do, with the size of its input.
pub struct Title {
    pub timed: String,
    /// With the smaller size that the simulator counts.
    pub counted: String,
}

impl Title {
    /// The title of each scale.
    pub fn new(title: impl Fn(Scale) -> String) -> Self {
        Self {
            timed: title(Scale::Timed),
            counted: title(Scale::Counted),
        }
    }
}

/// What [`Trial::work`] counts.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::enum_variant_names,
    reason = "a rate is something for each second"
)]
pub enum Rate {
    /// Bytes that the launch has to move.
    BytesPerSecond,
    /// Floating-point operations that it has to do.
    FlopsPerSecond,
    /// Elements, updates or accesses.
    ItemsPerSecond,
}

impl Rate {
    /// The unit of billions of them each second.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::BytesPerSecond => "GB/s",
            Self::FlopsPerSecond => "GFLOP/s",
            Self::ItemsPerSecond => "10^9/s",
        }
    }
}

/// One step, with one value of its parameter.
pub struct Case {
    /// The field's term.
    pub step: String,
    /// What it changes against the step before.
    pub change: &'static str,
    pub parameter: Option<u32>,
    /// False for rivals and for copies: there is no kernel of ours that the simulator could count.
    pub is_counted: bool,
    pub prepare: Box<Prepare>,
}

/// Makes a step's operands on a device.
pub type Prepare = dyn Fn(&Device, Scale) -> Outcome<Box<dyn Trial>>;

impl Case {
    /// A case that the simulator counts and that has no parameter.
    pub fn new<T: Trial + 'static>(
        step: impl Into<String>,
        change: &'static str,
        prepare: impl Fn(&Device, Scale) -> Outcome<T> + 'static,
    ) -> Self {
        Self {
            step: step.into(),
            change,
            parameter: None,
            is_counted: true,
            prepare: Box::new(move |device, scale| Ok(Box::new(prepare(device, scale)?))),
        }
    }

    /// The same case with a value of the section's parameter.
    pub fn with_parameter(mut self, parameter: u32) -> Self {
        self.parameter = Some(parameter);
        self
    }

    /// The same case, not counted.
    pub fn uncounted(mut self) -> Self {
        self.is_counted = false;
        self
    }
}

/// How large the input is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Large enough to be timed on a GPU.
    Timed,
    /// Small enough to be counted by the simulator.
    Counted,
}

impl Scale {
    /// The value for this scale.
    pub fn pick<T>(self, timed: T, counted: T) -> T {
        match self {
            Self::Timed => timed,
            Self::Counted => counted,
        }
    }
}

/// A step with its operands on a device.
pub trait Trial {
    /// One launch, without waiting for it. It is launched again and again; where that spoils the
    /// operands, it must not spoil the time.
    fn launch(&mut self) -> Outcome;

    /// Fails unless the first launch gave the right answer. Called once, after it.
    fn check(&mut self) -> Outcome;

    /// What one launch does, in what the section's [`Rate`] counts.
    fn work(&self) -> f64;
}
