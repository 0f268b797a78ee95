//! One job and its contenders.

use super::Result;
use crate::rivals::Rivals;
use crate::rivals::torch::Job;
use std::time::Duration;
use tilewright::Device;
use tilewright_output::figures::Unit;

/// One job on one input, with contenders whose results have been checked.
pub struct Contest {
    pub device: Device,
    /// Such as `sum` or `product`.
    pub operation: &'static str,
    /// The type of the elements, such as `f32`.
    pub element: &'static str,
    /// Elements of a sum, or rows and columns of the square matrices of a product.
    pub size: usize,
    /// The size as text, such as `2^20`.
    pub size_label: String,
    pub work: Work,
    /// Bytes of all operands.
    pub operand_bytes: u64,
    pub contenders: Vec<Contender>,
}

/// The work of one call, in the unit of the speed.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Bytes that must be read, and written if the result is as long as the operands.
    Bytes(u64),
    /// Floating-point operations: a multiplication or an addition.
    Operations(u64),
}

/// A library that does the job.
pub struct Contender {
    pub name: &'static str,
    /// Whether it is this crate.
    pub ours: bool,
    calls: Calls,
}

/// Consecutive calls, without waits of the host between them.
enum Calls {
    /// Enqueued in the device's stream.
    Enqueued(Box<dyn FnMut(u64) -> Result>),
    /// Executed and timed by another process.
    Elsewhere(Box<dyn FnMut(u64) -> Result<Duration>>),
}

impl Contest {
    /// A contest without contenders, whose work is reading and writing `bytes` bytes.
    pub fn of_bytes(
        device: &Device,
        operation: &'static str,
        element: &'static str,
        (size, size_label): (usize, String),
        bytes: u64,
    ) -> Self {
        Self {
            device: device.clone(),
            operation,
            element,
            size,
            size_label,
            work: Work::Bytes(bytes),
            operand_bytes: bytes,
            contenders: Vec::new(),
        }
    }

    /// The name, such as `sum f32 2^20`.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.operation, self.element, self.size_label)
    }

    /// Whether the operands fit into L2, where later calls find them. The simulator has none.
    pub fn fits_cache(&self) -> bool {
        let properties = self.device.properties();
        !self.device.is_simulator() && self.operand_bytes <= properties.l2_cache_bytes
    }

    /// Adds a contender of this crate, after `check` has accepted the result of one call.
    ///
    /// # Errors
    /// Any failure: a benchmark of wrong results is worthless.
    pub fn admit<O: 'static>(
        &mut self,
        name: &'static str,
        output: O,
        enqueue: impl FnMut(u64, &mut O) -> Result + 'static,
        check: impl FnOnce(&O) -> Result,
    ) -> Result {
        let mut contender = checked(name, output, enqueue, check)
            .map_err(|error| format!("{name}, {}: {error}", self.name()))?;
        contender.ours = true;
        self.contenders.push(contender);
        Ok(())
    }

    /// Adds a rival, or prints why it does not compete.
    pub fn admit_rival<O: 'static>(
        &mut self,
        name: &'static str,
        output: O,
        enqueue: impl FnMut(u64, &mut O) -> Result + 'static,
        check: impl FnOnce(&O) -> Result,
    ) {
        match checked(name, output, enqueue, check) {
            Ok(contender) => self.contenders.push(contender),
            Err(error) => eprintln!("rival skipped: {name}, {}: {error}", self.name()),
        }
    }

    /// Adds torch, if available, after `check` has accepted its result, or prints why it does not compete.
    pub fn admit_torch(
        &mut self,
        rivals: &Rivals,
        job: &Job<'_>,
        check: impl FnOnce(&[f64]) -> Result,
    ) {
        let Some(torch) = &rivals.torch else { return };
        let timed = torch.prepare(job).and_then(|(result, time)| {
            check(&result)?;
            Ok(time)
        });
        match timed {
            Err(error) => eprintln!("rival skipped: torch, {}: {error}", self.name()),
            Ok(time) => self.contenders.push(Contender {
                name: "torch",
                ours: false,
                calls: Calls::Elsewhere(Box::new(time)),
            }),
        }
    }
}

fn checked<O: 'static>(
    name: &'static str,
    mut output: O,
    mut enqueue: impl FnMut(u64, &mut O) -> Result + 'static,
    check: impl FnOnce(&O) -> Result,
) -> Result<Contender> {
    enqueue(1, &mut output)?;
    check(&output)?;
    Ok(Contender {
        name,
        ours: false,
        calls: Calls::Enqueued(Box::new(move |calls| enqueue(calls, &mut output))),
    })
}

impl Contender {
    /// The device's time for `calls` consecutive calls. The host does not wait between them.
    pub fn time(&mut self, device: &Device, calls: u64) -> Result<Duration> {
        match &mut self.calls {
            Calls::Enqueued(enqueue) => {
                let start = device.record_event()?;
                enqueue(calls)?;
                Ok(device.record_event()?.elapsed_since(&start)?)
            }
            Calls::Elsewhere(time) => {
                // Otherwise two processes would share the device.
                device.synchronize()?;
                time(calls)
            }
        }
    }
}

impl Work {
    /// The unit of [`Work::speed`].
    pub fn unit(self) -> Unit {
        match self {
            Self::Bytes(_) => Unit::Gigabytes,
            Self::Operations(_) => Unit::Teraflops,
        }
    }

    /// The speed of a call that takes `seconds`.
    pub fn speed(self, seconds: f64) -> f64 {
        match self {
            Self::Bytes(bytes) => bytes as f64 / seconds * 1e-9,
            Self::Operations(operations) => operations as f64 / seconds * 1e-12,
        }
    }
}
