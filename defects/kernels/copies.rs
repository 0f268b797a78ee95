//! Mistakes with bulk copies.

use crate::{LINE, LINE_BYTES, is_first, me, meet, twins};
use cuda_std::prelude::*;
use cuda_std::tma;

twins! {
    /// A bulk store of what threads have written, without a proxy fence.
    store_without_a_proxy_fence store_without_a_proxy_fence_twin(memory, parts) {
        parts.words.store(me(), me() as u32);
        if RIGHT {
            tma::fence();
        }
        thread::sync_threads();
        if is_first() {
            parts.start_store(memory);
            tma::commit();
            tma::wait::<0>();
        }
    }

    /// A stage is read before its copies are waited for.
    stage_read_before_its_barrier stage_read_before_its_barrier_twin(memory, parts) {
        parts.init(1);
        let mut consumer = parts.ring.consumer();
        if is_first() {
            parts.fill_line(memory, &parts.ring.producer().acquire(), 0);
        }
        thread::sync_threads();
        if RIGHT {
            let _ = consumer.wait();
        }
        parts.put_word(memory, 0);
        if !RIGHT {
            let _ = consumer.wait();
        }
    }

    /// A consumer forgets its place in the ring, and so waits for a phase that is past.
    consumer_that_begins_anew consumer_that_begins_anew_twin(memory, parts) {
        parts.init(1);
        let (mut producer, mut consumer) = (parts.ring.producer(), parts.ring.consumer());
        let mut round = 0;
        while round < 2 {
            if is_first() {
                parts.fill_line(memory, &producer.acquire(), round);
            }
            if !RIGHT {
                consumer = parts.ring.consumer();
            }
            let stage = consumer.wait();
            parts.put_word(memory, round);
            thread::sync_threads();
            if is_first() {
                consumer.release(&stage);
            }
            round += 1;
        }
    }

    /// One thread waits for a stage, and others read it.
    wait_by_one_thread wait_by_one_thread_twin(memory, parts) {
        parts.init(1);
        let mut consumer = parts.ring.consumer();
        if is_first() {
            parts.fill_line(memory, &parts.ring.producer().acquire(), 0);
        }
        thread::sync_threads();
        if me() == 32 {
            let _ = consumer.wait();
        }
        meet();
        if RIGHT {
            thread::sync_threads();
        }
        if me() > 32 {
            parts.put_word(memory, 0);
        }
        if me() != 32 {
            let _ = consumer.wait();
        }
    }

    /// Two copies fill one place at the same time.
    stage_filled_twice stage_filled_twice_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let (mut producer, mut consumer) = (parts.pair.producer(), parts.pair.consumer());
            parts.fill_line(memory, &producer.acquire(), 0);
            if RIGHT {
                let _ = consumer.wait();
            }
            parts.fill_line(memory, &producer.acquire(), 1);
            if !RIGHT {
                let _ = consumer.wait();
            }
            let _ = consumer.wait();
        }
    }

    /// Threads write what a bulk store still reads.
    overwritten_while_a_store_reads overwritten_while_a_store_reads_twin(memory, parts) {
        parts.write_line();
        if is_first() {
            parts.start_store(memory);
            tma::commit();
            if RIGHT {
                tma::wait_read::<0>();
            }
        }
        thread::sync_threads();
        parts.words.store(me(), 7);
        if is_first() {
            tma::wait::<0>();
        }
    }

    /// A block ends while a bulk store still reads its memory.
    exit_while_a_store_reads exit_while_a_store_reads_twin(memory, parts) {
        parts.write_line();
        if is_first() {
            parts.start_store(memory);
            tma::commit();
            if RIGHT {
                tma::wait_read::<0>();
            }
        }
    }

    /// A bulk store that belongs to no group, so that no wait covers it.
    store_of_no_group store_of_no_group_twin(memory, parts) {
        parts.write_line();
        if is_first() {
            parts.start_store(memory);
            if RIGHT {
                tma::commit();
            }
            tma::wait::<0>();
        }
    }

    /// A thread reads what a bulk store has not written yet: it waited for its reads alone.
    result_read_too_early result_read_too_early_twin(memory, parts) {
        parts.write_line();
        if is_first() {
            parts.start_store(memory);
            tma::commit();
            if RIGHT {
                tma::wait::<0>();
            } else {
                tma::wait_read::<0>();
            }
            let early = memory.out.load(3);
            memory.out.store(LINE, early);
        }
    }

    /// A bulk store of words of which one was never written.
    store_of_what_was_never_written store_of_what_was_never_written_twin(memory, parts) {
        if RIGHT || me() != 5 {
            parts.words.store(me(), me() as u32);
        }
        tma::fence();
        thread::sync_threads();
        if is_first() {
            parts.start_store(memory);
            tma::commit();
            tma::wait::<0>();
        }
    }

    /// A stage expects more bytes than its copies have.
    bytes_that_never_come bytes_that_never_come_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let slot = parts.ring.producer().acquire();
            slot.expect(LINE_BYTES + if RIGHT { 0 } else { 32 });
            parts.copy_line(memory, &slot, 0);
        }
        let _ = parts.ring.consumer().wait();
        parts.put_word(memory, 0);
    }

    /// A stage expects fewer bytes than its copies have.
    bytes_that_are_too_many bytes_that_are_too_many_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let slot = parts.ring.producer().acquire();
            slot.expect(if RIGHT { LINE_BYTES } else { LINE_BYTES / 2 });
            parts.copy_line(memory, &slot, 0);
        }
        let _ = parts.ring.consumer().wait();
        parts.put_word(memory, 0);
    }

    /// A stage expects bytes that no copy brings, and nothing waits for it.
    bytes_that_nothing_waits_for bytes_that_nothing_waits_for_twin(memory, parts) {
        parts.init(1);
        if is_first() && !RIGHT {
            parts.ring.producer().acquire().expect(64);
        }
    }

    /// A copy whose size is not a multiple of 16 bytes.
    copy_of_the_wrong_size copy_of_the_wrong_size_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let count = if RIGHT { 20 } else { 18 };
            let slot = parts.ring.producer().acquire();
            slot.expect(4 * count as u32);
            memory.source.bulk_load(0..count, (parts.words, 0), &slot);
            let _ = parts.ring.consumer().wait();
        }
    }

    /// A copy to an address that is not a multiple of 16.
    copy_to_a_misaligned_place copy_to_a_misaligned_place_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let slot = parts.ring.producer().acquire();
            slot.expect(LINE_BYTES);
            memory.source.bulk_load(0..LINE, (parts.words, if RIGHT { 4 } else { 1 }), &slot);
            let _ = parts.ring.consumer().wait();
        }
    }

    /// A copy from past the end of global memory.
    copy_from_past_the_end copy_from_past_the_end_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let end = memory.source.len() + if RIGHT { 0 } else { 4 };
            let slot = parts.ring.producer().acquire();
            slot.expect(LINE_BYTES);
            memory.source.bulk_load(end - LINE..end, (parts.words, 0), &slot);
            let _ = parts.ring.consumer().wait();
        }
    }

    /// A copy to past the end of shared memory.
    copy_to_past_the_end copy_to_past_the_end_twin(memory, parts) {
        parts.init(1);
        if is_first() {
            let to = parts.words.len() - LINE + if RIGHT { 0 } else { 4 };
            let slot = parts.ring.producer().acquire();
            slot.expect(LINE_BYTES);
            memory.source.bulk_load(0..LINE, (parts.words, to), &slot);
            let _ = parts.ring.consumer().wait();
        }
    }
}
