//! Distances between approximations, as `run.py` measures them.

/// Bits of the exponent and of the fraction.
type Format = (u32, u32);

const F64: Format = (11, 52);

/// The numbers of a word, and their format.
fn lanes(word: u64, of: &str) -> (Vec<u64>, Format) {
    match of {
        "f16" => (vec![word], (5, 10)),
        "bf16" => (vec![word], (8, 7)),
        "f16x2" => (vec![word & 0xffff, word >> 16], (5, 10)),
        "bf16x2" => (vec![word & 0xffff, word >> 16], (8, 7)),
        "f32" => (vec![word], (8, 23)),
        "f64" => (vec![word], F64),
        _ => panic!("no format {of}"),
    }
}

fn is_nan(bits: u64, (exponent, fraction): Format) -> bool {
    let magnitude = bits & ((1 << (exponent + fraction)) - 1);
    magnitude > ((1 << exponent) - 1) << fraction
}

/// The place of a number among all of its format.
fn rank(bits: u64, (exponent, fraction): Format) -> i64 {
    let sign = 1 << (exponent + fraction);
    let magnitude = (bits & !sign) as i64;
    if bits & sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Whether two numbers are within `units` units in the last place. All NaNs are equal.
fn are_within(units: u64, left: u64, right: u64, format: Format) -> bool {
    match (is_nan(left, format), is_nan(right, format)) {
        (false, false) => rank(left, format).abs_diff(rank(right, format)) <= units,
        (left, right) => left == right,
    }
}

/// Whether a result is as near to a GPU's as the comparison says.
pub fn is_near(comparison: &str, of_gpu: u64, found: u64) -> bool {
    let fields: Vec<&str> = comparison.split(' ').collect();
    let limit: f64 = fields[1].parse().unwrap();
    match fields[0] {
        "units" => {
            let (of_gpu, format) = lanes(of_gpu, fields[2]);
            let (found, _) = lanes(found, fields[2]);
            let mut pairs = of_gpu.into_iter().zip(found);
            pairs.all(|(left, right)| are_within(limit as u64, left, right, format))
        }
        // Only the upper half of an f64 counts.
        "upper" if is_nan(of_gpu, F64) || is_nan(found, F64) => are_within(0, of_gpu, found, F64),
        "upper" => (of_gpu >> 32).abs_diff(found >> 32) <= limit as u64,
        kind => {
            let [of_gpu, found] = [of_gpu, found].map(|it| f32::from_bits(it as u32));
            let scale = match kind {
                "relative" => f64::from(of_gpu.abs()).max(1.0),
                _ => 1.0,
            };
            let is_same = of_gpu == found || of_gpu.is_nan() && found.is_nan();
            is_same || (f64::from(of_gpu) - f64::from(found)).abs() <= limit * scale
        }
    }
}
