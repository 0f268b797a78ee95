//! The parts of a ladder, for its authors.

use crate::support::Outcome;
use tilewright::Device;

/// A ladder: its name on the command line, and its sections.
pub struct Ladder {
    pub name: &'static str,
    pub title: &'static str,
    /// The sections, including rivals that are compiled or loaded for `device`.
    pub sections: fn(&Device) -> Outcome<Vec<Section>>,
}

/// Steps that do the same work, for comparison.
pub struct Section {
    /// A word for file names and `--only`.
    pub name: &'static str,
    pub title: Title,
    pub rate: Rate,
    /// The name of the cases' parameter, such as `threads of a block`; empty if they have none.
    pub parameter: &'static str,
    /// The step that speed-ups refer to; if empty, the first one.
    pub baseline: &'static str,
    pub cases: Vec<Case>,
}

/// A description of a section's work, with the size of its input.
pub struct Title {
    pub timed: String,
    /// The description with the smaller size that the simulator counts.
    pub counted: String,
}

impl Title {
    /// The title for each scale.
    pub fn new(title: impl Fn(Scale) -> String) -> Self {
        Self {
            timed: title(Scale::Timed),
            counted: title(Scale::Counted),
        }
    }
}

/// The unit of [`Trial::work`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, reason = "a rate is something per second")]
pub enum Rate {
    /// Bytes that the launch must move.
    BytesPerSecond,
    /// Floating-point operations that the launch must do.
    FlopsPerSecond,
    /// Elements, updates or accesses.
    ItemsPerSecond,
}

impl Rate {
    /// The unit for billions per second.
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
    /// The change from the previous step.
    pub change: &'static str,
    pub parameter: Option<u32>,
    /// False for rivals and for copies, which have no kernel that the simulator could count.
    pub is_counted: bool,
    pub prepare: Box<Prepare>,
}

/// Prepares a step's operands on a device.
pub type Prepare = dyn Fn(&Device, Scale) -> Outcome<Box<dyn Trial>>;

impl Case {
    /// A case without a parameter, counted by the simulator.
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

    /// Sets the value of the section's parameter.
    pub fn with_parameter(mut self, parameter: u32) -> Self {
        self.parameter = Some(parameter);
        self
    }

    /// Excludes the case from counting.
    pub fn uncounted(mut self) -> Self {
        self.is_counted = false;
        self
    }
}

/// The size of the input.
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
    /// Submits one launch, without waiting. It is repeated; if that changes the operands, it must
    /// not change the time.
    fn launch(&mut self) -> Outcome;

    /// Checks the result of the first launch. Called once, after it.
    fn check(&mut self) -> Outcome;

    /// The work of one launch, in the unit of the section's [`Rate`].
    fn work(&self) -> f64;
}
