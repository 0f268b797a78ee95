//! Mistakes between the two blocks of a cluster.

use crate::{Tile, is_first, me, twins};
use cuda_std::cluster;
use cuda_std::prelude::*;

/// Both blocks.
const BOTH: u16 = 0b11;

/// Block 0 and a block that does not exist.
const ABSENT: u16 = 0b101;

twins! {
    /// A block writes the other's memory without a cluster barrier.
    [, cluster = (2, 1, 1)]
    write_without_a_barrier_of_the_cluster write_without_a_barrier_of_the_cluster_twin(memory, parts) {
        cluster::sync();
        let rank = cluster::rank();
        parts.words.store(me(), rank);
        if RIGHT {
            cluster::sync();
        } else {
            thread::sync_threads();
        }
        if rank == 0 {
            parts.words.in_block(1).store(me(), 5);
        }
        cluster::sync();
        parts.put_word(memory, rank as usize);
    }

    /// A block ends while the other one writes its memory.
    [, cluster = (2, 1, 1)]
    end_while_others_write end_while_others_write_twin(memory, parts) {
        cluster::sync();
        if cluster::rank() == 0 {
            parts.words.in_block(1).store(me(), 5);
        }
        if RIGHT {
            cluster::sync();
        }
    }

    /// A block ends while the other one arrives at its ring.
    [, cluster = (2, 1, 1)]
    end_while_others_arrive end_while_others_arrive_twin(memory, parts) {
        parts.init(1);
        cluster::sync();
        let mut consumer = parts.ring.consumer();
        if is_first() {
            parts.fill_line(memory, &parts.ring.producer().acquire(), 0);
        }
        let stage = consumer.wait();
        cluster::sync();
        if is_first() && cluster::rank() == 0 {
            consumer.release_in(&stage, 1);
        }
        if RIGHT {
            cluster::sync();
        }
    }

    /// A block ends before a multicast has landed in its memory.
    [, cluster = (2, 1, 1)]
    end_before_a_multicast_lands end_before_a_multicast_lands_twin(memory, parts) {
        parts.init(1);
        cluster::sync();
        if is_first() {
            let slot = parts.ring.producer().acquire();
            slot.expect(Tile::BYTES);
            if cluster::rank() == 0 {
                memory.tiles.load_multicast(parts.tiles.get(0), &slot, (0, 0), BOTH);
            }
        }
        if RIGHT || cluster::rank() == 0 {
            let _ = parts.ring.consumer().wait();
        }
        cluster::sync();
    }

    /// A multicast fills a tile that the other block still reads.
    [, cluster = (2, 1, 1)]
    multicast_into_a_tile_in_use multicast_into_a_tile_in_use_twin(memory, parts) {
        parts.init(1);
        cluster::sync();
        let (mut producer, mut consumer) = (parts.pair.producer(), parts.pair.consumer());
        let tile = parts.tiles.get(0);
        let mut round = 0;
        while round < 2 {
            if is_first() {
                let slot = producer.acquire();
                slot.expect(Tile::BYTES);
                if cluster::rank() == 0 {
                    memory.tiles.load_multicast(tile, &slot, (0, 0), BOTH);
                }
            }
            let _ = consumer.wait();
            let [low, high] = tile.load_vector::<2>(me() / 2, me() % 2 * 2);
            let place = (cluster::rank() as usize * 2 + round) * 128 + me();
            memory.out.store(place, u32::from(low.to_bits()) + u32::from(high.to_bits()));
            if RIGHT {
                cluster::sync();
            } else {
                thread::sync_threads();
            }
            round += 1;
        }
        cluster::sync();
    }

    /// A stage that a multicast fills is released in the block that multicasts, and not in the other.
    [, cluster = (2, 1, 1)]
    stage_released_in_one_block stage_released_in_one_block_twin(memory, parts) {
        parts.init(if RIGHT { 2 } else { 1 });
        cluster::sync();
        let (mut producer, mut consumer) = (parts.ring.producer(), parts.ring.consumer());
        let tile = parts.tiles.get(0);
        let mut round = 0;
        while round < 2 {
            if is_first() {
                if cluster::rank() != 0 {
                    // A new producer, with which block 0 waits for both: a producer's first round waits for nothing.
                    producer = parts.ring.producer();
                }
                let slot = producer.acquire();
                slot.expect(Tile::BYTES);
                if cluster::rank() == 0 {
                    memory.tiles.load_multicast(tile, &slot, (0, 0), BOTH);
                }
            }
            let stage = consumer.wait();
            let [low, high] = tile.load_vector::<2>(me() / 2, me() % 2 * 2);
            let place = (cluster::rank() as usize * 2 + round) * 128 + me();
            memory.out.store(place, u32::from(low.to_bits()) + u32::from(high.to_bits()));
            thread::sync_threads();
            if is_first() && (RIGHT || cluster::rank() == 0) {
                consumer.release_in(&stage, 0);
            }
            round += 1;
        }
        cluster::sync();
    }

    /// A multicast to a block that the cluster does not have.
    [, cluster = (2, 1, 1)]
    multicast_to_an_absent_block multicast_to_an_absent_block_twin(memory, parts) {
        parts.init(1);
        cluster::sync();
        if is_first() {
            let slot = parts.ring.producer().acquire();
            slot.expect(Tile::BYTES);
            if cluster::rank() == 0 {
                let blocks = if RIGHT { BOTH } else { ABSENT };
                memory.tiles.load_multicast(parts.tiles.get(0), &slot, (0, 0), blocks);
            }
        }
        let _ = parts.ring.consumer().wait();
        cluster::sync();
    }
}
