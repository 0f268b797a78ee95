//! A [`Program`] as a kernel on the simulator.

use crate::common::sync;
use crate::harness::{MEMORY, counted_with};
use crate::program::{
    Access, COPY, GLOBAL_VIEWS, Here, Loop, Program, SHARED_BYTES, SHARED_VIEWS, Step,
};
use simt::{Counts, Options, Space};

/// The costs of the launch on the simulator, under a seed.
pub fn cost(program: &Program, seed: u64) -> Counts {
    let options = Options {
        warp_width: program.warp_width,
        seed,
        ..Options::default()
    };
    counted_with(&options, program.blocks, program.threads, || {
        let position = simt::position();
        let mut thread = Thread {
            program,
            here: Here {
                block: position.block_idx.x as usize,
                warp: position.warp as usize,
                lane: position.lane as usize,
                rounds: Vec::new(),
            },
            shared: std::array::from_fn(|array| simt::static_shared(array, SHARED_BYTES, 128)),
        };
        thread.run();
    })
}

struct Thread<'a> {
    program: &'a Program,
    here: Here,
    shared: [*mut u8; SHARED_VIEWS],
}

impl Thread<'_> {
    fn run(&mut self) {
        for (number, step) in self.program.steps.iter().enumerate() {
            let present = self.program.present(self.here.warp, number);
            if present >> self.here.lane & 1 == 0 {
                return;
            }
            self.step(step, present);
        }
    }

    /// Each call is another place in the source, in the order of their numbers; barriers follow.
    fn step(&mut self, step: &Step, present: u64) {
        match step {
            Step::Access(access) if !access.is_active(&self.here) => {}
            Step::Access(access) => match access.place {
                0 => self.touch(access),
                1 => self.touch(access),
                2 => self.touch(access),
                _ => self.copy(access),
            },
            Step::Loop(steps) => self.repeat(steps, present),
            Step::BlockBarrier => sync(),
            Step::WarpBarrier(lanes) => {
                let lanes = lanes & present;
                if lanes >> self.here.lane & 1 == 1 {
                    self.wait_for_exits(present);
                    simt::warp_barrier(lanes);
                }
            }
        }
    }

    /// Lanes at their exit may not have had their turn yet.
    fn wait_for_exits(&self, present: u64) {
        while !self.program.exits.is_empty() && simt::active_lanes() != present {
            simt::yield_now();
        }
    }

    #[track_caller]
    fn touch(&self, access: &Access) {
        let place = self.program.places[access.place];
        let (base, bytes) = match place.space {
            Space::Global => {
                let (first, bytes) = GLOBAL_VIEWS[access.view];
                (MEMORY.0.as_ptr().addr() + first, bytes)
            }
            _ => (self.shared[access.view].addr(), SHARED_BYTES),
        };
        let offset = access.bytes_of(&self.here, place).start;
        let align = place.bytes.min(4);
        let length = place.bytes;
        // SAFETY: the memory is not registered.
        unsafe { simt::access(place.space, place.kind, base, bytes, offset, length, align) };
    }

    #[track_caller]
    fn copy(&self, access: &Access) {
        let place = self.program.places[COPY];
        let written = access.bytes_of(&self.here, place);
        let source = access.source_of(&self.here, place).unwrap_or(0..0);
        let from = MEMORY.0.as_ptr().cast::<u8>().wrapping_add(source.start);
        let to = self.shared[0].wrapping_add(written.start);
        // SAFETY: the destination is within the block's first array, the source within `MEMORY`, which is never
        // written.
        unsafe { simt::async_copy(to, from, place.bytes, source.len()) };
        simt::async_commit();
        simt::async_wait(0);
    }

    fn repeat(&mut self, steps: &Loop, present: u64) {
        let mut marked = steps.is_marked.then(|| match steps.place {
            0 => simt::loop_rounds(),
            _ => simt::loop_rounds(),
        });
        for round in 0..steps.rounds_of(self.here.lane) {
            if let Some(rounds) = &mut marked {
                rounds.begin();
            }
            self.here.rounds.push(round);
            for step in &steps.body {
                self.step(step, present);
            }
            self.here.rounds.pop();
        }
    }
}
