//! DRAM: bursts, channels, banks, and how they are filled, after chapter 6 of Hwu, Kirk and El Hajj,
//! "Programming Massively Parallel Processors", 4th edition.
//!
//! It explains why many threads should load neighbouring data at once. The layouts of
//! real devices are not published, and the counters do not use this model.

use std::collections::BTreeSet;
use std::ops::Range;

/// A DRAM system with interleaved data (figure 6.9 there): bursts go to the channels in turn,
/// and after a round to the next bank of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dram {
    /// Channels, each with its own bus.
    pub channels: u32,
    /// Banks of each channel.
    pub banks: u32,
    /// Bytes that an access of a bank delivers.
    pub burst_bytes: u64,
}

/// Where a burst lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DramPlace {
    /// The channel, from 0.
    pub channel: u32,
    /// The bank of the channel, from 0.
    pub bank: u32,
}

impl Dram {
    /// The small example of figure 6.9: 4 channels with 2 banks, bursts of two f32.
    pub const FIGURE_6_9: Self = Self {
        channels: 4,
        banks: 2,
        burst_bytes: 8,
    };

    /// Where the byte at `address` lies.
    #[must_use]
    pub const fn place(&self, address: u64) -> DramPlace {
        let burst = address / self.burst_bytes;
        // Remainders of divisions by u32 fit into one.
        DramPlace {
            channel: (burst % self.channels as u64) as u32,
            bank: (burst / self.channels as u64 % self.banks as u64) as u32,
        }
    }

    /// The places that accesses of these bytes touch, each once.
    #[must_use]
    pub fn places(&self, accesses: impl IntoIterator<Item = Range<u64>>) -> BTreeSet<DramPlace> {
        let bursts = accesses
            .into_iter()
            .filter(|bytes| !bytes.is_empty())
            .flat_map(|bytes| bytes.start / self.burst_bytes..=(bytes.end - 1) / self.burst_bytes);
        bursts
            .map(|burst| self.place(burst * self.burst_bytes))
            .collect()
    }
}

/// What `banks` banks of a channel use of its bus, from 0 to 1, where an access keeps a bank busy
/// `latency_ratio` times as long as the bus (figure 6.8). One more bank than that ratio
/// fills the bus.
#[must_use]
pub fn bus_utilisation(banks: u32, latency_ratio: f64) -> f64 {
    (f64::from(banks) / (latency_ratio + 1.0)).min(1.0)
}

/// The bandwidth of a double-data-rate bus in GB/s (10^9 bytes), by its width in bits and its clock
/// in GHz: it transfers at both edges of the clock.
#[must_use]
pub fn ddr_bandwidth(bus_bits: u32, clock_ghz: f64) -> f64 {
    f64::from(bus_bits) / 8.0 * 2.0 * clock_ghz
}

#[cfg(test)]
mod tests {
    use super::{Dram, DramPlace, bus_utilisation, ddr_bandwidth};
    use std::collections::BTreeSet;
    use std::ops::Range;

    const FLOAT: u64 = 4;
    /// Rows and columns of the tiles of the example.
    const TILE: u64 = 2;

    fn place(element: u64) -> (u32, u32) {
        let DramPlace { channel, bank } = Dram::FIGURE_6_9.place(FLOAT * element);
        (channel, bank)
    }

    /// The walk through figure 6.9.
    #[test]
    fn layout_of_figure_6_9() {
        let bursts: Vec<_> = (0..10).map(|burst| place(2 * burst)).collect();
        let expected = [
            (0, 0),
            (1, 0),
            (2, 0),
            (3, 0),
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 1),
            (0, 0),
            (1, 0),
        ];
        assert_eq!(bursts, expected);
        assert_eq!(place(11), (1, 1));
        assert_eq!(place(17), (0, 0));
    }

    /// The rows of tiles that the blocks of a `width` x `width` product load of M in a phase.
    fn loads_of_m(width: u64, phase: u64) -> impl Iterator<Item = Range<u64>> {
        (0..width).map(move |row| bytes(row * width + phase * TILE))
    }

    /// The same of N.
    fn loads_of_n(width: u64, phase: u64) -> impl Iterator<Item = Range<u64>> {
        let rows = phase * TILE..(phase + 1) * TILE;
        rows.flat_map(move |row| {
            (0..width / TILE).map(move |tile| bytes(row * width + tile * TILE))
        })
    }

    /// A row of a tile: one burst.
    fn bytes(element: u64) -> Range<u64> {
        FLOAT * element..FLOAT * (element + TILE)
    }

    fn touched(accesses: impl Iterator<Item = Range<u64>>) -> Vec<(u32, u32)> {
        let places = Dram::FIGURE_6_9.places(accesses);
        places
            .iter()
            .map(|place| (place.channel, place.bank))
            .collect()
    }

    fn channels(places: &[(u32, u32)]) -> BTreeSet<u32> {
        places.iter().map(|(channel, _)| *channel).collect()
    }

    /// Figure 6.11: two banks in channels 0 and 2, then two in channels 1 and 3.
    #[test]
    fn phases_of_figure_6_11() {
        assert_eq!(touched(loads_of_m(4, 0)), [(0, 0), (0, 1), (2, 0), (2, 1)]);
        assert_eq!(touched(loads_of_m(4, 1)), [(1, 0), (1, 1), (3, 0), (3, 1)]);
    }

    /// The exercise after it: 8 x 8 matrices use all four channels.
    #[test]
    fn larger_matrices_use_all_channels() {
        for phase in 0..4 {
            assert_eq!(channels(&touched(loads_of_n(8, phase))).len(), 4);
        }
        let all_phases = (0..4).flat_map(|phase| loads_of_m(8, phase));
        assert_eq!(channels(&touched(all_phases)).len(), 4);
        assert_eq!(channels(&touched(loads_of_m(8, 0))), BTreeSet::from([0]));
    }

    /// Figure 6.8: 20:1 with one bank is 4.8 %, 0.76 of 16 GB/s; 21 banks fill the bus.
    #[test]
    fn utilisation_of_figure_6_8() {
        let bus = ddr_bandwidth(64, 1.0);
        assert_eq!(bus, 16.0);
        let one = bus_utilisation(1, 20.0);
        assert_eq!(
            format!("{:.1} %, {:.2} GB/s", 100.0 * one, one * bus),
            "4.8 %, 0.76 GB/s"
        );
        assert_eq!(bus_utilisation(2, 20.0), 2.0 * one);
        assert!(bus_utilisation(20, 20.0) < 1.0);
        assert_eq!(bus_utilisation(21, 20.0), 1.0);
        assert_eq!(bus_utilisation(32, 20.0), 1.0);
    }

    #[test]
    fn an_empty_access_touches_nothing() {
        assert!(touched(std::iter::once(7..7)).is_empty());
        assert_eq!(touched(std::iter::once(7..9)), [(0, 0), (1, 0)]);
    }
}
