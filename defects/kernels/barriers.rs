//! Mistakes with rings and with named barriers.

use crate::{LINE_BYTES, PARTS_WORDS, RINGS, is_first, me, meet, twins};
use cuda_std::prelude::*;

/// The named barrier that the kernels use, and its threads.
const NAMED: u32 = 1;
const MEMBERS: u32 = 64;

twins! {
    /// A ring that was never initialised.
    ring_never_initialised ring_never_initialised_twin(memory, parts) {
        if RIGHT {
            parts.init(1);
        }
        if is_first() {
            parts.fill_line(memory, &parts.ring.producer().acquire(), 0);
            let _ = parts.ring.consumer().wait();
        }
    }

    /// A ring whose initialisation is not made visible to other threads.
    initialisation_that_others_do_not_see initialisation_that_others_do_not_see_twin(memory, parts) {
        parts.init_alone(1);
        meet();
        if RIGHT {
            thread::sync_threads();
        }
        if is_first() {
            parts.fill_line(memory, &parts.ring.producer().acquire(), 0);
        }
        let _ = parts.ring.consumer().wait();
    }

    /// A ring that is initialised for a second time.
    ring_initialised_again ring_initialised_again_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            parts.fill_line(memory, &parts.ring.producer().acquire(), 0);
            let _ = parts.ring.consumer().wait();
            if !RIGHT {
                parts.ring.init(1, 1);
            }
        }
    }

    /// An ordinary store to the memory of a ring, through a second view of shared memory.
    store_to_a_ring store_to_a_ring_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            dynamic_shared!(u32).store(if RIGHT { PARTS_WORDS } else { RINGS }, 0);
        }
    }

    /// One consumer of many does not release a stage.
    arrivals_that_are_too_few arrivals_that_are_too_few_twin(memory, parts) {
        parts.init(thread::block_size());
        let (mut producer, mut consumer) = (parts.ring.producer(), parts.ring.consumer());
        if is_first() {
            parts.fill_line(memory, &producer.acquire(), 0);
        }
        let stage = consumer.wait();
        if RIGHT || me() != 7 {
            consumer.release(&stage);
        }
        if is_first() {
            let _ = producer.acquire();
        }
    }

    /// The producer states the bytes of a stage in two parts, which are two arrivals.
    arrivals_that_are_too_many arrivals_that_are_too_many_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let slot = parts.ring.producer().acquire();
            if RIGHT {
                slot.expect(LINE_BYTES);
            } else {
                slot.expect(LINE_BYTES / 2);
                slot.expect(LINE_BYTES / 2);
            }
            parts.copy_line(memory, &slot, 0);
            let _ = parts.ring.consumer().wait();
        }
    }

    /// A ring counts one consumer too few, so that a stage is filled while the last one reads it.
    ring_for_too_few_consumers ring_for_too_few_consumers_twin(memory, parts) {
        parts.init(if RIGHT { 32 } else { 31 });
        let (mut producer, mut consumer) = (parts.ring.producer(), parts.ring.consumer());
        let mut round = 0;
        while round < 2 {
            if is_first() {
                parts.fill_line(memory, &producer.acquire(), round);
            } else if me() / 32 == 1 {
                let stage = consumer.wait();
                parts.put_word(memory, round);
                consumer.release(&stage);
            }
            round += 1;
        }
    }

    /// Consumers never release a stage, so that the second use of it waits for ever.
    stage_never_released stage_never_released_twin(memory, parts) {
        parts.init(32);
        let (mut producer, mut consumer) = (parts.ring.producer(), parts.ring.consumer());
        let mut round = 0;
        while round < 2 {
            if is_first() {
                parts.fill_line(memory, &producer.acquire(), round);
            } else if me() / 32 == 1 {
                let stage = consumer.wait();
                parts.put_word(memory, round);
                if RIGHT {
                    consumer.release(&stage);
                }
            }
            round += 1;
        }
    }

    /// Threads arrive at a named barrier for another number of threads than others wait for.
    named_arrival_for_another_count named_arrival_for_another_count_twin(memory, parts) {
        match me() / 32 {
            0 => {
                parts.words.store(me(), me() as u32);
                thread::named_barrier_arrive(NAMED, if RIGHT { MEMBERS } else { MEMBERS + 32 });
            }
            1 => {
                thread::named_barrier_sync(NAMED, MEMBERS);
                memory.out.store(me(), parts.words.load(me() - 32));
            }
            _ => (),
        }
    }

    /// Threads arrive at a named barrier where they have to wait.
    named_arrival_in_place_of_a_wait named_arrival_in_place_of_a_wait_twin(memory, parts) {
        match me() / 32 {
            0 => {
                if RIGHT {
                    thread::named_barrier_sync(NAMED, MEMBERS);
                } else {
                    thread::named_barrier_arrive(NAMED, MEMBERS);
                }
                parts.words.store(me(), 1);
            }
            1 => {
                parts.words.store(me() - 32, 2);
                thread::named_barrier_sync(NAMED, MEMBERS);
            }
            _ => (),
        }
    }
}
