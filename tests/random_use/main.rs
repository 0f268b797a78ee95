//! Random use of five streams of one device by eight threads: uploads, copies that block and that do not, sums,
//! products, launches, graphs, host data in chunks and panels, drops and errors.
//!
//! Every answer is checked, and at the end the memory is back where it was. The simulator also checks that the streams
//! are ordered.
//!
//! `TILEWRIGHT_RANDOM_STEPS` is the number of steps of all threads together; without it, 100,000 on
//! CUDA and 2,000 on the simulator.

#[path = "../common/mod.rs"]
mod common;
mod failures;
mod graph;
mod transfers;

use common::axpy::{AXPY, Axpy};
use common::devices;
use common::random::Random;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::{env, thread};
use tilewright::{Buffer, Device, LaunchConfig, Module};
use transfers::Download;

const THREADS: u64 = 8;

/// Most buffers that a thread holds from step to step.
const HELD: usize = 12;

/// Memory that the driver may take meanwhile: events, launch queues, a kernel's local memory. Leaked buffers would be
/// some hundred times that.
const DRIVERS_OWN_BYTES: u64 = 32 << 20;

/// The allowed growth of the streams' own memory meanwhile. A buffer has 60 KB on average.
const STREAMS_OWN_BYTES: u64 = 1 << 20;

/// Buffers that wait for another thread to take them.
type Exchange = Mutex<Vec<Held>>;

/// A buffer, and its contents.
struct Held {
    buffer: Buffer<f32>,
    expected: Vec<f32>,
}

impl Held {
    #[track_caller]
    fn check(&self) {
        assert_eq!(self.buffer.to_vec().unwrap(), self.expected);
    }
}

/// One thread's work.
struct Worker<'a> {
    streams: &'a [Device],
    /// The stream of the step.
    device: &'a Device,
    module: Module,
    random: Random,
    held: Vec<Held>,
    on_the_way: Vec<Download>,
    exchange: &'a Exchange,
    /// The steps that were done, by name.
    done: BTreeMap<&'static str, u64>,
}

impl<'a> Worker<'a> {
    fn new(streams: &'a [Device], exchange: &'a Exchange, seed: u64) -> Self {
        let device = &streams[0];
        Self {
            streams,
            device,
            module: device.load(&AXPY).unwrap(),
            random: Random::new(seed),
            held: Vec::new(),
            on_the_way: Vec::new(),
            exchange,
            done: BTreeMap::new(),
        }
    }

    fn work(&mut self, steps: u64) {
        for _ in 0..steps {
            let name = self.step();
            *self.done.entry(name).or_default() += 1;
        }
    }

    fn step(&mut self) -> &'static str {
        let stream = self.below(self.streams.len() as u64) as usize;
        self.device = &self.streams[stream];
        self.module = self.device.load(&AXPY).unwrap();
        // Asking for too much returns the memory that the device keeps, which takes long to allocate again.
        let seldom = if self.device.is_simulator() {
            100
        } else {
            1000
        };
        if self.below(seldom) == 0 {
            return self.fail_to_allocate();
        }
        match self.below(106) {
            0..15 => self.upload(),
            15..30 => self.sum(),
            30..40 => self.multiply(),
            40..55 => self.launch(),
            55..65 => self.copy(),
            65..72 => self.overwrite(),
            72..82 => self.drop_one(),
            82..90 => self.pass_on(),
            90..93 => self.graph(),
            93..96 => self.download(),
            96 => self.host_data(),
            _ => self.fail(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.bits() % limit
    }

    /// A length whose magnitude is random: as many short ones as long ones.
    fn len(&mut self) -> usize {
        let bits = if self.device.is_simulator() { 10 } else { 18 };
        let largest = 1_u64 << self.below(bits + 1);
        self.below(largest + 1) as usize
    }

    /// Integers that sums and products of f32 add without rounding.
    fn integers(&mut self, len: usize) -> Vec<f32> {
        let random = &mut self.random;
        (0..len).map(|_| random.integer(-8..=8) as f32).collect()
    }

    /// The place of a held buffer, after making one if there is none.
    fn any_held(&mut self) -> usize {
        if self.held.is_empty() {
            self.upload();
        }
        self.below(self.held.len() as u64) as usize
    }

    fn hold(&mut self, held: Held) {
        if self.held.len() == HELD {
            self.drop_one();
        }
        self.held.push(held);
    }

    fn upload(&mut self) -> &'static str {
        let len = self.len();
        let expected = self.integers(len);
        let buffer = self.device.upload(&expected).unwrap();
        self.hold(Held { buffer, expected });
        "upload"
    }

    fn sum(&mut self) -> &'static str {
        let len = self.len();
        let floats = self.integers(len);
        let exact: f64 = floats.iter().copied().map(f64::from).sum();
        let buffer = self.device.upload(&floats).unwrap();
        let sum = self.device.reduce_sum(&buffer).unwrap();
        assert_eq!(f64::from(sum), exact, "{len} elements");

        let random = &mut self.random;
        let whole: Vec<i32> = (0..len).map(|_| random.bits() as i32).collect();
        let exact: i64 = whole.iter().copied().map(i64::from).sum();
        let buffer = self.device.upload(&whole).unwrap();
        assert_eq!(self.device.reduce_sum(&buffer).unwrap(), exact);

        // Values that another stream may have written.
        let place = self.any_held();
        let Held { buffer, expected } = &self.held[place];
        let largest = expected.iter().copied().fold(0.0, f32::max);
        let relu = self.device.reduce_max(buffer).map_or(0.0, |it| it.max(0.0));
        assert_eq!(relu, largest);
        "sum"
    }

    fn multiply(&mut self) -> &'static str {
        let limit = if self.device.is_simulator() { 12 } else { 100 };
        let [m, n, k] = [(); 3].map(|()| self.below(limit) as usize);
        let (a, b) = (self.integers(m * k), self.integers(k * n));
        let expected = product(&a, &b, (m, n, k));
        let a = self.device.matrix((m, k), &a).unwrap();
        let b = self.device.matrix((k, n), &b).unwrap();
        let c = match self.below(2) {
            0 => self.device.matmul_tiled(&a, &b),
            _ => self.device.matmul_coarsened(&a, &b),
        };
        assert_eq!(c.unwrap().to_vec().unwrap(), expected, "{m} x {n} x {k}");
        "multiply"
    }

    fn launch(&mut self) -> &'static str {
        let place = self.any_held();
        let factor = self.random.integer(-4..=4) as f32;
        let block = self.random.integer(1..=256) as u32;
        let x = self.integers(self.held[place].expected.len());
        let on_device = self.device.upload(&x).unwrap();
        let Held { buffer, expected } = &mut self.held[place];
        let config = LaunchConfig::for_elements(x.len(), block);
        self.module
            .launch(Axpy, config, (factor, &on_device, buffer))
            .unwrap();
        for (y, x) in expected.iter_mut().zip(x) {
            *y = factor.mul_add(x, *y);
        }
        "launch"
    }

    fn copy(&mut self) -> &'static str {
        let place = self.any_held();
        self.held[place].check();
        let mut copy = Held {
            buffer: self.copy_of(place),
            expected: self.held[place].expected.clone(),
        };
        // The copy has separate memory.
        self.held[place].buffer.fill_zero().unwrap();
        self.held[place].expected.fill(0.0);
        copy.check();
        let Held { buffer, expected } = &self.held[place];
        copy.buffer.copy_from_buffer(buffer).unwrap();
        copy.expected.clone_from(expected);
        self.hold(copy);
        "copy"
    }

    /// A copy of a held buffer, in the stream of the step or of the buffer.
    fn copy_of(&mut self, place: usize) -> Buffer<f32> {
        let held = &self.held[place].buffer;
        if self.random.bits().is_multiple_of(2) {
            return held.try_clone().unwrap();
        }
        let mut copy = self.device.uninit(held.len()).unwrap();
        copy.copy_from_buffer(held).unwrap();
        copy
    }

    /// From page-locked memory, and waiting for an event.
    fn overwrite(&mut self) -> &'static str {
        let place = self.any_held();
        let new = self.integers(self.held[place].expected.len());
        // Seldom, because page-locked memory takes long to allocate.
        let pinned = (self.below(8) == 0).then(|| self.device.pinned::<f32>(new.len()).unwrap());
        let held = &mut self.held[place];
        match pinned {
            None => held.buffer.copy_from_slice(&new).unwrap(),
            Some(mut pinned) => {
                pinned.copy_from_slice(&new);
                // Dropping the transfer waits for it.
                let _ = held.buffer.view_mut().start_copy_from(pinned).unwrap();
            }
        }
        held.expected = new;
        let event = self.device.record_event().unwrap();
        event.synchronize().unwrap();
        assert!(event.is_done().unwrap());
        "overwrite"
    }

    fn drop_one(&mut self) -> &'static str {
        let place = self.any_held();
        let held = self.held.swap_remove(place);
        if self.below(2) == 0 {
            held.check();
        }
        "drop"
    }

    /// Passes a buffer to the next thread, and takes the one that another passed before.
    fn pass_on(&mut self) -> &'static str {
        let place = self.any_held();
        let mine = self.held.swap_remove(place);
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        exchange.push(mine);
        let theirs = (exchange.len() as u64 > THREADS).then(|| exchange.swap_remove(0));
        drop(exchange);
        if let Some(theirs) = theirs {
            theirs.check();
            self.hold(theirs);
        }
        "pass on"
    }
}

/// The product of row-major matrices, by its definition.
fn product(a: &[f32], b: &[f32], (m, n, k): (usize, usize, usize)) -> Vec<f32> {
    let element = |row: usize, column: usize| {
        let terms = (0..k).map(|inner| a[row * k + inner] * b[inner * n + column]);
        terms.sum::<f32>()
    };
    (0..m * n).map(|at| element(at / n, at % n)).collect()
}

fn steps(device: &Device) -> u64 {
    match env::var("TILEWRIGHT_RANDOM_STEPS") {
        Ok(steps) => steps.parse().expect("a number of steps"),
        Err(_) if device.is_simulator() => 2_000,
        Err(_) => 100_000,
    }
}

/// Free memory after all work is done, and the use by buffers and streams.
fn memory(device: &Device) -> (u64, u64) {
    device.synchronize().unwrap();
    let used = device.memory().unwrap().used;
    (device.free_memory().unwrap(), used)
}

#[test]
fn eight_threads_get_right_answers_and_leave_no_memory_behind() {
    for device in devices() {
        let others = (0..4).map(|_| device.new_stream().unwrap());
        let streams: Vec<_> = [device.clone()].into_iter().chain(others).collect();
        let exchange = Exchange::default();
        // Modules, the sums' workspace, and the driver's one-time allocations.
        Worker::new(&streams, &exchange, 0).work(200);
        exchange.lock().unwrap().clear();
        let (free_before, used_before) = memory(&device);

        let each = steps(&device).div_ceil(THREADS);
        let mut done: BTreeMap<&str, u64> = BTreeMap::new();
        thread::scope(|scope| {
            let spawn = |seed| {
                let (streams, exchange) = (&streams, &exchange);
                scope.spawn(move || {
                    let mut worker = Worker::new(streams, exchange, seed);
                    worker.work(each);
                    worker.held.iter().for_each(Held::check);
                    worker.on_the_way.into_iter().for_each(Download::check);
                    worker.done
                })
            };
            let threads: Vec<_> = (1..=THREADS).map(spawn).collect();
            for thread in threads {
                for (name, count) in thread.join().unwrap() {
                    *done.entry(name).or_default() += count;
                }
            }
        });
        exchange.lock().unwrap().iter().for_each(Held::check);
        exchange.lock().unwrap().clear();

        println!("{}: {done:?}", device.name());
        assert_eq!(done.len(), 13, "some kind of step was never done: {done:?}");
        let (free, used) = memory(&device);
        let (drivers, streams) = match device.is_simulator() {
            true => (0, 0),
            false => (DRIVERS_OWN_BYTES, STREAMS_OWN_BYTES),
        };
        assert!(
            free + drivers >= free_before,
            "{free_before} bytes were free, and now {free} are"
        );
        assert!(
            used <= used_before + streams,
            "{used_before} bytes were in use, and now {used} are"
        );
    }
}
