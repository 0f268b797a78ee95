//! The check that work in several streams is ordered where it conflicts.
//!
//! Launches are known by the views among their parameters, not by what they access. So two uses of parts of an
//! allocation may be of different elements, and only a use of the whole of it conflicts with others. Matrices with gaps
//! and tensor maps count as parts.

use super::stream_order::{Clock, StreamOrder};
use crate::backend::LaunchRequest;
use crate::stream_set::{MAX_STREAMS, StreamNumber};
use std::collections::BTreeMap;

/// An access to memory by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryAccess {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) is_write: bool,
}

/// Two uses that conflict, without an order between their streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unordered {
    pub(super) later: MemoryAccess,
    pub(super) earlier_is_write: bool,
}

/// The last use of an allocation by each stream, by kind: of a part or of the whole, read or written.
type Uses = [Clock; 4];

/// The live allocations of a device, and the uses by its streams.
#[derive(Debug, Default)]
pub(super) struct StreamCheck {
    allocations: BTreeMap<u64, (u64, Option<Box<Uses>>)>,
}

impl MemoryAccess {
    pub(super) fn read(address: u64, bytes: usize) -> Self {
        let (bytes, is_write) = (bytes as u64, false);
        Self {
            address,
            bytes,
            is_write,
        }
    }

    pub(super) fn write(address: u64, bytes: usize) -> Self {
        let is_write = true;
        Self {
            is_write,
            ..Self::read(address, bytes)
        }
    }
}

impl StreamCheck {
    pub(super) fn allocated(&mut self, address: u64, bytes: usize) {
        self.allocations.insert(address, (bytes as u64, None));
    }

    /// Fails if `stream`, which frees an allocation, is not ordered after all its uses.
    pub(super) fn free(
        &mut self,
        order: &mut StreamOrder,
        stream: StreamNumber,
        address: u64,
    ) -> Result<(), Unordered> {
        let bytes = self
            .allocations
            .get(&address)
            .map_or(0, |(bytes, _)| *bytes);
        let written = MemoryAccess {
            address,
            bytes,
            is_write: true,
        };
        self.call(order, stream, &[written])
    }

    /// Forgets an allocation that is freed.
    pub(super) fn forget(&mut self, address: u64) {
        self.allocations.remove(&address);
    }

    /// Notes what a call of `stream` uses; fails if it is not ordered after a conflicting use.
    pub(super) fn call(
        &mut self,
        order: &mut StreamOrder,
        stream: StreamNumber,
        uses: &[MemoryAccess],
    ) -> Result<(), Unordered> {
        let clock = *order.next_call(stream);
        for later in uses {
            let before = self.allocations.range_mut(..=later.address).next_back();
            let Some((start, (bytes, uses))) = before else {
                continue;
            };
            if later.address.saturating_add(later.bytes) > start + *bytes {
                continue;
            }
            let is_whole = later.bytes == *bytes;
            let uses = uses.get_or_insert_with(|| Box::new([[0; MAX_STREAMS as usize]; 4]));
            for (kind, times) in uses.iter().enumerate() {
                let (earlier_is_write, of_whole) = kind_of(kind);
                let conflicts = (later.is_write || earlier_is_write) && (is_whole || of_whole);
                if conflicts && clock.iter().zip(times).any(|(known, time)| known < time) {
                    return Err(Unordered {
                        later: *later,
                        earlier_is_write,
                    });
                }
            }
            let own = stream.0 as usize;
            uses[number_of(later.is_write, is_whole)][own] = clock[own];
        }
        Ok(())
    }
}

fn number_of(is_write: bool, is_whole: bool) -> usize {
    usize::from(is_write) * 2 + usize::from(is_whole)
}

fn kind_of(number: usize) -> (bool, bool) {
    (number & 2 != 0, number & 1 != 0)
}

/// The memory of the views among a launch's parameters.
pub(super) fn uses_of_launch(request: &LaunchRequest<'_>) -> Vec<MemoryAccess> {
    let Some(signature) = request.entry.signature.map(|it| it.to_string()) else {
        return Vec::new();
    };
    let mut views = views_of(&signature).into_iter();
    let words: Vec<&[u8]> = request.params.bytes().collect();
    let word = |index: usize| {
        let bytes = words.get(index).copied().unwrap_or_default();
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    };
    let places = (0..)
        .zip(request.views)
        .filter(|(_, name)| !name.is_empty());
    places
        .filter_map(|(place, _)| {
            let (name, element_bytes) = views.next()?;
            let elements = match name.starts_with("GlobalMatrix") {
                false => word(place + 1),
                true => {
                    let [rows, columns, apart] = [1, 2, 3].map(|after| word(place + after));
                    match rows.min(columns) {
                        0 => 0,
                        _ => (rows - 1).saturating_mul(apart).saturating_add(columns),
                    }
                }
            };
            Some(MemoryAccess {
                address: word(place),
                bytes: elements.saturating_mul(element_bytes),
                is_write: !matches!(name, "Global" | "GlobalMatrix"),
            })
        })
        .filter(|it| it.bytes > 0)
        .collect()
}

/// The views among the parameters of a signature, such as `f(u32,Global<f32>)4.4u,4.4`, with the sizes of their
/// elements.
fn views_of(signature: &str) -> Vec<(&str, u64)> {
    let (Some(open), Some(close)) = (signature.find('('), signature.rfind(')')) else {
        return Vec::new();
    };
    let mut depth = 0;
    let types = signature[open + 1..close].split(|character| {
        depth += match character {
            '<' | '(' | '[' => 1,
            '>' | ')' | ']' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    });
    let layouts = signature[close + 1..]
        .rsplit(':')
        .next()
        .unwrap_or_default();
    let named = types.zip(layouts.split(',')).filter_map(|(ty, layout)| {
        let name = ty.split('<').next()?.rsplit(':').next()?;
        let bytes = layout.split('.').next()?.parse().ok()?;
        name.starts_with("Global").then_some((name, bytes))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_their_elements_sizes() {
        let signature = "a::f(f32,Global<[u8;100]>,cuda_std::GlobalMut<(f32,f64)>,GridConstant<X<f32,2>>,\
                         GlobalMatrixMut<f64>)unsafe:cooperative:4.4f,100.1,16.8,12.4,8.8";
        let expected = [("Global", 100), ("GlobalMut", 16), ("GlobalMatrixMut", 8)];
        assert_eq!(views_of(signature), expected);
        assert_eq!(views_of("a::f()"), []);
    }

    #[test]
    fn uses_conflict_unless_the_streams_are_ordered() {
        let (mut order, mut check) = (StreamOrder::default(), StreamCheck::default());
        let [one, two] = [order.add().unwrap(), order.add().unwrap()];
        check.allocated(256, 64);
        let of = |bytes, is_write| {
            [MemoryAccess {
                address: 256,
                bytes,
                is_write,
            }]
        };
        let mut call = |order: &mut StreamOrder, stream, bytes, is_write| {
            check.call(order, stream, &of(bytes, is_write)).is_ok()
        };
        assert!(call(&mut order, one, 64, true));
        assert!(
            !call(&mut order, two, 64, false),
            "a read of what is written"
        );
        assert!(!call(&mut order, two, 8, true), "a write of a part of it");
        order.wait_for(two, one.into());
        assert!(call(&mut order, two, 64, false));
        assert!(
            call(&mut order, one, 64, false),
            "two reads do not conflict"
        );
        assert!(!call(&mut order, one, 64, true), "a write of what is read");
        order.wait_for(one, two.into());
        assert!(call(&mut order, one, 64, true));
        order.wait_for(two, one.into());
        assert!(call(&mut order, two, 8, true) && call(&mut order, one, 16, true));
        assert!(!call(&mut order, one, 64, false), "a read of all parts");
    }
}
