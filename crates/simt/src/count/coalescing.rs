//! The sectors and cache lines of global memory that a request touches.

use super::span::Span;
use super::tally::{GlobalTally, LINE_BYTES, SECTOR_BYTES};

/// The cost of one request of these lanes. Afterwards the spans are sorted by address.
pub(super) fn coalesce(spans: &mut [Span]) -> GlobalTally {
    if !spans.is_sorted_by_key(|span| span.first()) {
        spans.sort_unstable_by_key(|span| span.first());
    }
    GlobalTally {
        requests: 1,
        sectors: granules(spans, SECTOR_BYTES.ilog2()),
        lines: granules(spans, LINE_BYTES.ilog2()),
        bytes_asked: spans.iter().map(|span| span.bytes()).sum(),
        bytes_distinct: granules(spans, 0),
    }
}

/// The number of pieces of `1 << shift` bytes that sorted spans touch.
fn granules(spans: &[Span], shift: u32) -> u64 {
    let (mut count, mut next) = (0, 0);
    for span in spans {
        let first = (span.first() >> shift).max(next);
        let end = (span.last() >> shift) + 1;
        count += end.saturating_sub(first);
        next = next.max(end);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{GlobalTally, Span, coalesce};

    /// 32 lanes that request 4 bytes each.
    fn words(address: impl Fn(usize) -> usize) -> GlobalTally {
        let mut spans: Vec<_> = (0..32).map(|lane| Span::new(address(lane), 4)).collect();
        coalesce(&mut spans)
    }

    fn percent(tally: GlobalTally) -> (f64, f64) {
        let percent = |efficiency: Option<f64>| efficiency.expect("there is a request") * 100.0;
        (
            percent(tally.line_efficiency()),
            percent(tally.sector_efficiency()),
        )
    }

    /// Five patterns of access, with the percentages of their lines and sectors that they use.
    #[test]
    fn usual_patterns() {
        let aligned = words(|lane| 4096 + 4 * lane);
        assert_eq!(percent(aligned), (100.0, 100.0));
        let permuted = words(|lane| 4096 + 4 * (lane * 13 % 32));
        assert_eq!(percent(permuted), (100.0, 100.0));
        let misaligned = words(|lane| 4096 + 16 + 4 * lane);
        assert_eq!(percent(misaligned), (50.0, 80.0));
        let one_address = words(|_| 4096);
        assert_eq!(percent(one_address), (3.125, 12.5));
        let scattered = words(|lane| 4096 + 1024 * (lane * 7 % 32));
        assert_eq!((scattered.lines, scattered.sectors), (32, 32));
        assert_eq!(percent(scattered), (3.125, 12.5));
    }

    #[test]
    fn vectors_and_overlaps() {
        let mut vectors: Vec<_> = (0..32).map(|lane| Span::new(16 * lane, 16)).collect();
        let tally = coalesce(&mut vectors);
        assert_eq!(
            (tally.sectors, tally.lines, tally.bytes_asked),
            (16, 4, 512)
        );
        let tally = coalesce(&mut [Span::new(30, 8), Span::new(28, 16), Span::new(40, 1)]);
        assert_eq!((tally.sectors, tally.bytes_asked), (2, 25));
        assert_eq!(tally.bytes_distinct, 16);
    }
}
