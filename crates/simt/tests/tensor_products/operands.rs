//! Operands of the measured products, word for word those of `measured/tensor_core.cu`.
//!
//! An element is a function of instruction, kind, problem and position, so no file holds operands.

use simt::tensor::Format;

/// The increment of SplitMix64.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// OOPSLA 2014) from the state `x`.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GAMMA);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A format as the generator sees it: every bit of a fraction is random, including those that the tensor core ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    exponent_bits: u32,
    fraction_bits: u32,
    infinities: bool,
}

impl Layout {
    pub const F64: Self = Self {
        exponent_bits: 11,
        fraction_bits: 52,
        infinities: true,
    };

    pub const fn of(format: Format) -> Self {
        Self {
            exponent_bits: format.exponent_bits,
            fraction_bits: format.fraction_bits + format.ignored_bits,
            infinities: format.infinities,
        }
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn top(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    fn fraction_mask(self) -> u64 {
        (1 << self.fraction_bits) - 1
    }

    fn sign(self, negative: u64) -> u64 {
        negative << (self.exponent_bits + self.fraction_bits)
    }

    /// The fraction and the sign of `random`, with the exponent clamped to the range of normal numbers.
    fn number(self, random: u64, field: i64) -> u64 {
        let top = self.top() as i64;
        let largest = if self.infinities { top - 1 } else { top };
        let field = field.clamp(1, largest);
        let mut fraction = random & self.fraction_mask();
        if field == top && fraction == self.fraction_mask() {
            fraction -= 1;
        }
        self.sign(random >> 63) | (field as u64) << self.fraction_bits | fraction
    }

    fn subnormal(self, random: u64) -> u64 {
        self.sign(random >> 63) | random & self.fraction_mask()
    }

    fn finite_bits(self, random: u64) -> u64 {
        let field = (random >> self.fraction_bits) & self.top();
        let bits = self.subnormal(random) | field << self.fraction_bits;
        if field != self.top() {
            return bits;
        }
        if self.infinities {
            return bits ^ 1 << self.fraction_bits;
        }
        let not_a_number = bits & self.fraction_mask() == self.fraction_mask();
        bits ^ u64::from(not_a_number)
    }

    fn integer(self, value: i64) -> u64 {
        if value == 0 {
            return 0;
        }
        let magnitude = value.unsigned_abs();
        let exponent = magnitude.ilog2();
        let fraction = (magnitude ^ 1 << exponent) << self.fraction_bits >> exponent;
        let field = self.bias() as u64 + u64::from(exponent);
        self.sign(u64::from(value < 0)) | field << self.fraction_bits | fraction
    }

    /// An infinity, a NaN, a zero or the largest number.
    fn special(self, random: u64) -> u64 {
        let sign = self.sign(random >> 63);
        let top = self.top() << self.fraction_bits;
        let ones = self.fraction_mask();
        match ((random >> 8) % 6, self.infinities) {
            (0 | 1, true) => sign | top,
            (2, true) => sign | top | ((random >> 20) & ones) | 1,
            (0..=2, false) => sign | top | ones,
            (3, _) => sign,
            (_, true) => sign | (self.top() - 1) << self.fraction_bits | ones,
            (_, false) => sign | top | (ones - 1),
        }
    }

    /// A zero or a one with a sign.
    fn signed_one(self, random: u64) -> u64 {
        let sign = self.sign(random >> 63);
        if random & 1 == 1 {
            sign | (self.bias() as u64) << self.fraction_bits
        } else {
            sign
        }
    }
}

/// The kinds of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Uniform,
    RandomBits,
    Narrow,
    Cancelling,
    Subnormal,
    Special,
    FarApart,
    AccumulatorAbove,
    AccumulatorBelow,
    SmallIntegers,
    Signs,
    Overflowing,
    Tiny,
    Coarse,
}

impl Kind {
    pub const ALL: [Self; 14] = [
        Self::Uniform,
        Self::RandomBits,
        Self::Narrow,
        Self::Cancelling,
        Self::Subnormal,
        Self::Special,
        Self::FarApart,
        Self::AccumulatorAbove,
        Self::AccumulatorBelow,
        Self::SmallIntegers,
        Self::Signs,
        Self::Overflowing,
        Self::Tiny,
        Self::Coarse,
    ];
}

/// The matrix of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Matrix {
    A,
    B,
    C,
}

/// The place of an element: row and k of A, column and k of B, row and column of C.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub instruction: u32,
    pub kind: u32,
    pub problem: u32,
    pub matrix: Matrix,
    pub line: u32,
    pub place: u32,
    /// The instruction's number of products.
    pub k: u32,
}

impl Element {
    fn draw(self, place: u32, number: u32) -> u64 {
        let stream = mix(u64::from(self.instruction) << 8 | u64::from(self.kind));
        let problem = mix(stream.wrapping_add(u64::from(self.problem)));
        let element = (self.matrix as u64) << 60
            | u64::from(self.line) << 40
            | u64::from(place) << 20
            | u64::from(number);
        mix(problem ^ element)
    }

    /// An element of A or B in `layout`, whose products go to accumulators in `accumulator`.
    pub fn factor(self, layout: Layout, accumulator: Layout) -> u64 {
        let bias = layout.bias();
        let half = accumulator.bias() / 2;
        let r = self.draw(self.place, 0);
        let s = self.draw(self.place, 1);
        match Kind::ALL[self.kind as usize] {
            Kind::Uniform => layout.number(r, bias - 1 - below(s)),
            Kind::RandomBits => layout.finite_bits(r),
            Kind::Narrow | Kind::AccumulatorAbove | Kind::AccumulatorBelow => {
                layout.number(r, bias - 3 + upto(s, 7))
            }
            Kind::Cancelling => self.half_of_a_pair(layout, s),
            Kind::Subnormal if self.matrix == Matrix::A || self.line & 1 == 1 => {
                layout.subnormal(r)
            }
            Kind::Subnormal => layout.finite_bits(r),
            Kind::Special if s.is_multiple_of(u64::from(8 * self.k)) => {
                layout.special(self.draw(self.place, 2))
            }
            Kind::Special => layout.number(r, bias - 3 + upto(s, 7)),
            Kind::FarApart => {
                let spread = (bias - 1).min(20);
                layout.number(r, bias - spread + upto(s, 2 * spread + 1))
            }
            Kind::SmallIntegers => layout.integer(upto(s, 17) - 8),
            Kind::Signs if self.problem & 1 == 0 => layout.signed_one(r),
            Kind::Signs => {
                let one = if self.matrix == Matrix::A {
                    0
                } else {
                    bias as u64
                };
                layout.sign(u64::from(self.line & 1)) | one << layout.fraction_bits
            }
            Kind::Overflowing => layout.number(r, bias + half.min(bias) - 4 + upto(s, 6)),
            Kind::Tiny => layout.number(r, bias - half - 12 + upto(s, 16)),
            Kind::Coarse => {
                let cut = layout.fraction_bits.saturating_sub(3);
                layout.number(r >> cut << cut, bias - 4 + upto(s, 9))
            }
        }
    }

    /// Elements at odd places of A are the ones before them, negated. Those of B equal the ones before them, or differ
    /// in the last bit.
    fn half_of_a_pair(self, layout: Layout, s: u64) -> u64 {
        let pair = self.place & !1;
        let field = layout.bias() - 4 + upto(self.draw(pair, 1), 9);
        let first = layout.number(self.draw(pair, 0), field);
        match (self.place & 1, self.matrix) {
            (0, _) => first,
            (_, Matrix::A) => first ^ layout.sign(1),
            _ => first ^ (s & 1),
        }
    }

    /// An element of C in `layout`, to which products of elements in `factors` are added.
    pub fn summand(self, layout: Layout, factors: Layout) -> u64 {
        let bias = layout.bias();
        let r = self.draw(self.place, 0);
        let s = self.draw(self.place, 1);
        let quarter = (s >> 32) & 3;
        match (Kind::ALL[self.kind as usize], quarter) {
            (Kind::Uniform, _) => layout.number(r, bias - 1 - below(s)),
            (Kind::RandomBits | Kind::Cancelling | Kind::Tiny, 0) | (Kind::Subnormal, 1) => 0,
            (Kind::RandomBits, 1) => layout.number(r, bias - 32 + upto(s, 64)),
            (Kind::RandomBits, _) => layout.finite_bits(r),
            (Kind::Narrow | Kind::Coarse, _) => layout.number(r, bias - 6 + upto(s, 13)),
            (Kind::Cancelling, _) => layout.number(r, bias - 16 + upto(s, 20)),
            (Kind::Subnormal, 0) | (Kind::Tiny, 1) => layout.subnormal(r),
            (Kind::Subnormal, _) => layout.number(r, bias + 2 * (1 - factors.bias()) + upto(s, 40)),
            (Kind::Special, _) if s.is_multiple_of(32) => layout.special(self.draw(self.place, 2)),
            (Kind::Special, _) => layout.number(r, bias - 6 + upto(s, 13)),
            (Kind::FarApart, _) => {
                let spread = (bias - 1).min(40);
                layout.number(r, bias - spread + upto(s, 2 * spread + 1))
            }
            (Kind::AccumulatorAbove, _) => layout.number(r, bias + 6 + upto(s, 28)),
            (Kind::AccumulatorBelow, _) => layout.number(r, bias - 8 - upto(s, 30)),
            (Kind::SmallIntegers, _) => layout.integer(upto(s, 2049) - 1024),
            (Kind::Signs, _) if self.problem & 1 == 0 => layout.signed_one(r),
            (Kind::Signs, _) => layout.sign(u64::from((self.line >> 1 ^ self.place >> 1) & 1)),
            (Kind::Overflowing, _) => layout.number(r, 2 * bias - upto(s, 4)),
            (Kind::Tiny, _) => layout.number(r, 1 + upto(s, 12)),
        }
    }

    /// An 8-bit integer of A or B: random, or in kind 1 an extreme.
    pub fn small_integer(self) -> u8 {
        let r = self.draw(self.place, 0);
        if self.kind == 1 {
            [0x80, 0x7f, 0xff, 0x00][(r % 4) as usize]
        } else {
            r as u8
        }
    }

    /// A 32-bit integer of C: small in kind 0, near the ends of the range in kind 1, random in kind 2.
    pub fn large_integer(self) -> i32 {
        let r = self.draw(self.place, 0);
        let within = (r % 200_000) as i32;
        match self.kind {
            0 => (r as u32).cast_signed() >> 8,
            2 => (r as u32).cast_signed(),
            _ if r >> 63 == 1 => i32::MAX - within,
            _ => i32::MIN + within,
        }
    }
}

/// A number of 0 to 40 that is as often `n` as uniform numbers have `n` zeros below the point.
fn below(random: u64) -> i64 {
    i64::from(random.trailing_zeros().min(40))
}

fn upto(random: u64, count: i64) -> i64 {
    (random % count.unsigned_abs()).cast_signed()
}
