//! Copies of pageable host memory by several host threads, each through page-locked memory of its own.
//!
//! A thread fills one piece of page-locked memory while the device copies the other, so the link stays busy. The
//! pieces are small enough for the host's caches.

use super::runs::{len_of, parts, pieces};
use super::staging::Staging;
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Error, Outcome};
use crate::locks::lock;
use std::ops::Range;
use std::sync::Mutex;
use std::{iter, thread};

/// Bytes of page-locked memory that a thread fills at a time: so few that both pieces of a thread stay in its core's
/// cache. A piece of 4 MiB is written to memory first, which takes twice as long as reading alone.
const PIECE_BYTES: usize = 1 << 20;

/// A single thread copies less than this faster than it can start others.
pub const LEAST_BYTES: usize = 8 << 20;

/// More threads than this copy no faster than the link to the device.
const MOST_THREADS: usize = 8;

/// While the device copies one piece of a thread, the thread fills the other.
const PIECES_OF_LANE: usize = 2;

/// The page-locked memory of one thread.
type Lane<T> = [Staging<T>; PIECES_OF_LANE];

/// Page-locked memory for each thread, allocated on first use.
#[derive(Debug)]
pub struct Lanes<T: Element> {
    lanes: Vec<Lane<T>>,
}

impl<T: Element> Default for Lanes<T> {
    fn default() -> Self {
        Self::of_threads(threads())
    }
}

impl<T: Element> Lanes<T> {
    /// Half of the lanes, for each of two copies at a time.
    pub fn half() -> Self {
        Self::of_threads(threads().div_ceil(2))
    }

    fn of_threads(count: usize) -> Self {
        let lanes = iter::repeat_with(Lane::default).take(count);
        Self {
            lanes: lanes.collect(),
        }
    }

    /// Copies `runs` one after another to `destination`, which has as many elements.
    ///
    /// Returns when all runs have been read. The last copies to the device may still be running.
    pub fn upload<'x>(
        &mut self,
        destination: BufferViewMut<'_, T>,
        runs: impl Iterator<Item = &'x [T]>,
    ) -> Outcome<()> {
        let (device, bytes) = (destination.device(), destination.len() * size_of::<T>());
        let pieces = pieces(runs, piece_len::<T>());
        let places = destination.into_runs(pieces.iter().map(|piece| len_of(piece)))?;
        self.share(device, bytes, iter::zip(places, pieces), |lane, jobs| {
            for (turn, (place, piece)) in jobs.enumerate() {
                let staging = &mut lane[turn % PIECES_OF_LANE];
                let uploaded = staging.upload("upload", place, |memory| {
                    Ok::<_, Error>(gather(memory, &piece))
                });
                uploaded.map_err(Error::into_kind)?;
            }
            Ok(())
        })
    }

    /// Copies `source` to `runs`, one after another, which have as many elements.
    pub fn download<'x>(
        &mut self,
        source: BufferView<'_, T>,
        runs: impl Iterator<Item = &'x mut [T]>,
    ) -> Outcome<()> {
        let bytes = source.len() * size_of::<T>();
        let mut next = 0;
        let mut jobs = Vec::new();
        for piece in pieces(runs, piece_len::<T>()) {
            let part = next..next + len_of(&piece);
            next = part.end;
            jobs.push((source.part(part)?, piece));
        }
        self.share(source.device(), bytes, jobs.into_iter(), |lane, jobs| {
            let mut on_the_way: [Vec<&mut [T]>; PIECES_OF_LANE] = Default::default();
            let ends = iter::repeat_with(|| None).take(PIECES_OF_LANE);
            for (turn, job) in jobs.map(Some).chain(ends).enumerate() {
                let number = turn % PIECES_OF_LANE;
                let (staging, piece) = (&mut lane[number], &mut on_the_way[number]);
                scatter(staging.downloaded()?, piece.drain(..));
                if let Some((part, runs)) = job {
                    staging.start_download(part)?;
                    *piece = runs;
                }
            }
            Ok(())
        })
    }

    /// Fills `destination` with elements that `read` supplies, piece by piece: `read` gets the index of the piece's
    /// first element, and the piece.
    pub fn upload_read<E: From<Error>>(
        &mut self,
        call: &'static str,
        mut destination: BufferViewMut<'_, T>,
        mut read: impl FnMut(usize, &mut [T]) -> Result<(), E>,
    ) -> Result<(), E> {
        for (turn, piece) in parts(destination.len(), piece_len::<T>()).enumerate() {
            let (first, len) = (piece.start, piece.len());
            let place = destination.slice_mut(piece)?;
            self.lanes[0][turn % PIECES_OF_LANE].upload(call, place, |memory| {
                read(first, memory)?;
                Ok::<_, E>(len)
            })?;
        }
        Ok(())
    }

    /// Passes the elements of `source` to `write`, piece by piece, with the index of the piece's first element.
    pub fn download_written<E: From<Error>>(
        &mut self,
        call: &'static str,
        source: BufferView<'_, T>,
        mut write: impl FnMut(usize, &[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut on_the_way: [Option<Range<usize>>; PIECES_OF_LANE] = Default::default();
        let ends = iter::repeat_with(|| None).take(PIECES_OF_LANE);
        for (turn, piece) in parts(source.len(), piece_len::<T>())
            .map(Some)
            .chain(ends)
            .enumerate()
        {
            let number = turn % PIECES_OF_LANE;
            let staging = &mut self.lanes[0][number];
            if let Some(done) = on_the_way[number].take() {
                let memory = staging.downloaded().during(call)?;
                write(done.start, &memory[..done.len()])?;
            }
            if let Some(piece) = piece {
                let part = source.part(piece.clone());
                let started = part.and_then(|part| staging.start_download(part));
                started.during(call)?;
                on_the_way[number] = Some(piece);
            }
        }
        Ok(())
    }

    /// Shares `jobs`, which move some bytes in total, among the threads of the lanes. Each enters the context of
    /// `device` once, instead of at each call of the driver.
    fn share<J: Send>(
        &mut self,
        device: &Device,
        bytes: usize,
        jobs: impl Iterator<Item = J> + Send,
        work: impl Fn(&mut Lane<T>, &mut dyn Iterator<Item = J>) -> Outcome<()> + Sync,
    ) -> Outcome<()> {
        let used = match bytes < LEAST_BYTES {
            true => 1,
            false => self.lanes.len(),
        };
        let jobs = Mutex::new(jobs);
        let run = |lane: &mut Lane<T>| {
            let next = || lock(&jobs).next();
            device.in_context(|| work(lane, &mut iter::from_fn(next)))?
        };
        let run = &run;
        let (own, others) = self.lanes[..used].split_at_mut(1);
        thread::scope(|scope| {
            let others = others.iter_mut().map(|lane| scope.spawn(move || run(lane)));
            let others: Vec<_> = others.collect();
            let of_own = own.iter_mut().try_for_each(run);
            let results = others.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.fold(of_own, Result::and)
        })
    }
}

/// Writes the runs of a piece one after another to `memory`, and returns the number of their elements.
fn gather<T: Copy>(mut memory: &mut [T], piece: &[&[T]]) -> usize {
    for run in piece {
        let (of_run, rest) = memory.split_at_mut(run.len());
        of_run.copy_from_slice(run);
        memory = rest;
    }
    len_of(piece)
}

/// Writes the first elements of `memory` to `runs`, one after another.
fn scatter<'x, T: Copy + 'x>(mut memory: &[T], runs: impl Iterator<Item = &'x mut [T]>) {
    for run in runs {
        let (of_run, rest) = memory.split_at(run.len());
        run.copy_from_slice(of_run);
        memory = rest;
    }
}

/// The elements of a piece.
pub fn piece_len<T>() -> usize {
    (PIECE_BYTES / size_of::<T>().max(1)).max(1)
}

/// Half of the cores, because two threads of a core copy no faster than one.
pub fn threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / 2).clamp(1, MOST_THREADS)
}

#[cfg(test)]
mod tests;
