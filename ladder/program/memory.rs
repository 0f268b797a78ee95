//! The ladder of memories: a section for each of them.

use super::case::{Case, Ladder, Rate, Scale, Section, Trial};
use super::support::Outcome;
use tilewright::{
    AddressMode, Buffer, Device, Element, Matrix, PinnedBuffer, Texture, TextureFilter,
    TextureOptions,
};
use tilewright_ladder::memory::{
    self, ARRAY_ELEMENTS, Array, BANKS, Caches, Constants, DIVERGING_STEP, MISALIGNMENT, PART,
    Pattern, STATIC_ELEMENTS, Shared, TABLE_ELEMENTS,
};

pub const LADDER: Ladder = Ladder {
    name: "memory",
    title: "The GPU's memories, one after another",
    sections,
};

fn sections(_device: &Device) -> Outcome<Vec<Section>> {
    Ok(vec![
        section(
            "arrays",
            "64 rounds over 16 u32 of each of 2^20 threads",
            Rate::ItemsPerSecond,
            arrays(),
        ),
        section(
            "shared",
            "2^26 f32, reversed in parts of 256",
            Rate::BytesPerSecond,
            shared(),
        ),
        section(
            "banks",
            "512 loads from shared memory by each of 2^18 threads",
            Rate::ItemsPerSecond,
            banks(),
        ),
        section(
            "constants",
            "512 loads from constant memory by each of 2^18 threads",
            Rate::ItemsPerSecond,
            constants(),
        ),
        section(
            "textures",
            "4096 x 4096 f32, shifted by a part of an element",
            Rate::BytesPerSecond,
            textures(),
        ),
        section(
            "statics",
            "2^20 f32 added to 2^20 others",
            Rate::BytesPerSecond,
            statics(),
        ),
        section(
            "patterns",
            "2^26 loads of f32 from global memory",
            Rate::BytesPerSecond,
            patterns(),
        ),
        section(
            "copies",
            "256 MiB between host and device",
            Rate::BytesPerSecond,
            copies(),
        ),
    ])
}

fn section(name: &'static str, title: &str, rate: Rate, cases: Vec<Case>) -> Section {
    Section {
        name,
        title: title.to_owned(),
        rate,
        parameter: "",
        baseline: "",
        cases,
    }
}

/// A launch that can be repeated, with its check.
struct Work<S> {
    state: S,
    work: f64,
    launch: fn(&mut S) -> tilewright::Result<()>,
    check: fn(&mut S) -> Outcome,
}

impl<S> Trial for Work<S> {
    fn launch(&mut self) -> Outcome {
        Ok((self.launch)(&mut self.state)?)
    }

    fn check(&mut self) -> Outcome {
        (self.check)(&mut self.state)
    }

    fn work(&self) -> f64 {
        self.work
    }
}

/// Fails at the first place where a result is not as expected.
fn compare<T: PartialEq + std::fmt::Debug>(
    results: &[T],
    expected: impl IntoIterator<Item = (usize, T)>,
) -> Outcome {
    for (place, expected) in expected {
        if results[place] != expected {
            let found = &results[place];
            return Err(format!("element {place} is {found:?}, not {expected:?}").into());
        }
    }
    Ok(())
}

/// Every so many results are compared where the expected one takes long to find.
const CHECKED: usize = 97;

struct Rounds {
    device: Device,
    array: Array,
    rounds: u32,
    x: Buffer<u32>,
    y: Buffer<u32>,
}

fn arrays() -> Vec<Case> {
    let cases = Array::ALL.map(|array| {
        let prepare = move |device: &Device, scale: Scale| {
            let (threads, rounds) = scale.pick((1 << 20, 64), (1 << 10, 4));
            let x: Vec<u32> = (0..threads).collect();
            Ok(Work {
                work: f64::from(threads) * f64::from(rounds) * ARRAY_ELEMENTS as f64,
                state: Rounds {
                    device: device.clone(),
                    array,
                    rounds,
                    y: device.zeros(x.len())?,
                    x: device.upload(&x)?,
                },
                launch: |it| {
                    memory::array_rounds(&it.device, it.array, it.rounds, &it.x, &mut it.y)
                },
                check: |it| {
                    let places = (0..it.x.len()).step_by(CHECKED);
                    let rounds = it.rounds;
                    let expected = places.map(|place| (place, sum_of_rounds(place as u32, rounds)));
                    compare(&it.y.to_vec()?, expected)
                },
            })
        };
        Case::new(array.info().term, array.info().change, prepare)
    });
    cases.into()
}

fn sum_of_rounds(x: u32, rounds: u32) -> u32 {
    let mut state: Vec<u32> = (0..ARRAY_ELEMENTS as u32).map(|k| x + k).collect();
    let mut sum = 0_u32;
    for _ in 0..rounds {
        for element in &mut state {
            sum = sum.wrapping_mul(5).wrapping_add(*element);
            *element = sum;
        }
    }
    sum
}

/// Elements whose value is that of their index, small enough to be exact.
fn indices(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % (1 << 20)) as f32).collect()
}

struct Copied<K> {
    device: Device,
    kind: K,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

fn shared() -> Vec<Case> {
    let cases = Shared::ALL.map(|kind| {
        let prepare = move |device: &Device, scale: Scale| {
            let elements = scale.pick(1 << 26, 1 << 14);
            Ok(Work {
                work: 2.0 * bytes::<f32>(elements),
                state: Copied {
                    device: device.clone(),
                    kind,
                    x: device.upload(&indices(elements))?,
                    y: device.zeros(elements)?,
                },
                launch: |it| memory::reverse_parts(&it.device, it.kind, &it.x, &mut it.y),
                check: |it| {
                    let x = indices(it.x.len());
                    let mirrored = |place| place / PART * PART + PART - 1 - place % PART;
                    let expected = (0..x.len()).map(|place| (place, x[mirrored(place)]));
                    compare(&it.y.to_vec()?, expected)
                },
            })
        };
        Case::new(kind.info().term, kind.info().change, prepare)
    });
    cases.into()
}

fn bytes<T>(elements: usize) -> f64 {
    (elements * size_of::<T>()) as f64
}

struct Loads<K> {
    device: Device,
    kind: K,
    rounds: u32,
    y: Buffer<u32>,
}

impl<K> Loads<K> {
    fn new(device: &Device, scale: Scale, kind: K) -> tilewright::Result<Self> {
        let (threads, rounds) = scale.pick((1 << 18, 512), (256, 32));
        Ok(Self {
            device: device.clone(),
            kind,
            rounds,
            y: device.zeros(threads)?,
        })
    }

    fn work(&self) -> f64 {
        self.y.len() as f64 * f64::from(self.rounds)
    }

    /// Compares the sums with those of `value` over all rounds, where lane `l` begins at
    /// `l * step`.
    fn check(&self, step: u32, value: fn(u32) -> u32) -> Outcome {
        let sum_of = |lane: u32| {
            (0..self.rounds).fold(0_u32, |sum, round| {
                sum.wrapping_add(value(lane * step + round))
            })
        };
        let sums: Vec<u32> = (0..32).map(sum_of).collect();
        let expected = (0..self.y.len()).map(|place| (place, sums[place % 32]));
        compare(&self.y.to_vec()?, expected)
    }
}

fn banks() -> Vec<Case> {
    let cases = (1..=BANKS).map(|stride| {
        let prepare = move |device: &Device, scale: Scale| {
            let state = Loads::new(device, scale, stride)?;
            Ok(Work {
                work: state.work(),
                state,
                launch: |it| memory::read_banks(&it.device, it.kind, it.rounds, &mut it.y),
                check: |it| it.check(it.kind, |place| 7 * (place % 1024)),
            })
        };
        let change = match stride {
            1 => "lanes read neighbouring words",
            _ => "lanes read words further apart",
        };
        Case::new(format!("stride {stride}"), change, prepare)
    });
    cases.collect()
}

/// What the host writes to constant memory.
fn table_value(place: u32) -> u32 {
    (place % TABLE_ELEMENTS as u32).wrapping_mul(2_654_435_761)
}

fn constants() -> Vec<Case> {
    let cases = Constants::ALL.map(|kind| {
        let prepare = move |device: &Device, scale: Scale| {
            let table: Vec<u32> = (0..TABLE_ELEMENTS as u32).map(table_value).collect();
            memory::write_table(device, &table)?;
            let state = Loads::new(device, scale, kind)?;
            Ok(Work {
                work: state.work(),
                state,
                launch: |it| memory::read_table(&it.device, it.kind, it.rounds, &mut it.y),
                check: |it| match it.kind {
                    Constants::Uniform => it.check(0, table_value),
                    _ => it.check(DIVERGING_STEP, table_value),
                },
            })
        };
        Case::new(kind.info().term, kind.info().change, prepare)
    });
    cases.into()
}

/// A shift that weights of 8 bits hold exactly.
const SHIFT: (f32, f32) = (0.25, 0.375);

struct Picture<S> {
    device: Device,
    source: S,
    options: TextureOptions,
    x: Vec<f32>,
    y: Matrix<f32>,
}

/// A square picture of small integers, and its side, a power of two: normalised coordinates of its
/// elements are exact.
fn picture(scale: Scale) -> (usize, Vec<f32>) {
    let side = scale.pick(4096, 64);
    let x = (0..side * side).map(|i| (i % 17) as f32).collect();
    (side, x)
}

fn textures() -> Vec<Case> {
    let linear = TextureOptions::default().with_filter(TextureFilter::Linear);
    let by_hand = move |device: &Device, scale: Scale| {
        let (side, x) = picture(scale);
        Ok(Work {
            work: 2.0 * bytes::<f32>(x.len()),
            state: Picture {
                device: device.clone(),
                source: device.matrix((side, side), &x)?,
                options: linear,
                x,
                y: device.matrix_zeros((side, side))?,
            },
            launch: |it| memory::shift_by_hand(&it.device, &it.source, SHIFT, &mut it.y),
            check: check_picture,
        })
    };
    let change = "four loads from global memory, linear between them";
    let mut cases = vec![Case::new("by hand", change, by_hand)];
    for (filter, filter_name) in [
        (TextureFilter::Point, "point"),
        (TextureFilter::Linear, "linear"),
    ] {
        for (mode, mode_name) in [
            (AddressMode::Clamp, "clamp"),
            (AddressMode::Wrap, "wrap"),
            (AddressMode::Mirror, "mirror"),
            (AddressMode::Border, "border"),
        ] {
            let options = TextureOptions::default()
                .with_filter(filter)
                .with_address_mode(mode)
                .with_normalised_coordinates(true);
            let prepare = move |device: &Device, scale: Scale| by_texture(device, scale, options);
            let name = format!("texture, {filter_name}, {mode_name}");
            cases.push(Case::new(name, "the texture unit does it", prepare));
        }
    }
    cases
}

fn by_texture(
    device: &Device,
    scale: Scale,
    options: TextureOptions,
) -> Outcome<Work<Picture<Texture<2>>>> {
    let (side, x) = picture(scale);
    Ok(Work {
        work: 2.0 * bytes::<f32>(x.len()),
        state: Picture {
            device: device.clone(),
            source: device.texture_2d(side, side, &x, options)?,
            options,
            x,
            y: device.matrix_zeros((side, side))?,
        },
        launch: |it| memory::shift_texture(&it.device, &it.source, SHIFT, &mut it.y),
        check: check_picture,
    })
}

fn check_picture<S>(picture: &mut Picture<S>) -> Outcome {
    let y = picture.y.to_vec()?;
    let side = picture.y.rows();
    // Some of all places, and the last row and column, whose neighbours are outside.
    let last_column = (1..=side).map(|row| row * side - 1);
    let places = (0..y.len()).step_by(CHECKED).chain(last_column);
    let places = places.chain((side - 1) * side..side * side);
    compare(
        &y,
        places.map(|place| (place, shifted(picture, side, place))),
    )
}

/// The value at `place` after [`SHIFT`], which leaves the picture on two sides only.
fn shifted<S>(picture: &Picture<S>, side: usize, place: usize) -> f32 {
    let outside = |index: usize| match picture.options.address_mode {
        _ if index < side => Some(index),
        AddressMode::Clamp | AddressMode::Mirror => Some(side - 1),
        AddressMode::Wrap => Some(0),
        AddressMode::Border => None,
    };
    let element = |row: usize, column: usize| match (outside(row), outside(column)) {
        (Some(row), Some(column)) => picture.x[row * side + column],
        _ => 0.0,
    };
    let (row, column) = (place / side, place % side);
    if picture.options.filter == TextureFilter::Point {
        return element(row, column);
    }
    let (a, b) = SHIFT;
    let of_row = |row| (1.0 - a) * element(row, column) + a * element(row, column + 1);
    (1.0 - b) * of_row(row) + b * of_row(row + 1)
}

struct Sums {
    device: Device,
    /// None where the arrays are those of the module.
    buffers: Option<(Buffer<f32>, Buffer<f32>)>,
}

fn statics() -> Vec<Case> {
    let prepare = |is_static: bool| {
        move |device: &Device, _scale: Scale| {
            let (u, v) = (indices(STATIC_ELEMENTS), vec![1.0; STATIC_ELEMENTS]);
            let buffers = match is_static {
                true => {
                    memory::write_static(device, &u, &v)?;
                    None
                }
                false => Some((device.upload(&u)?, device.upload(&v)?)),
            };
            Ok(Work {
                work: 3.0 * bytes::<f32>(STATIC_ELEMENTS),
                state: Sums {
                    device: device.clone(),
                    buffers,
                },
                launch: |it| match &mut it.buffers {
                    Some((u, v)) => memory::add_buffers(&it.device, u, v),
                    None => memory::add_static(&it.device),
                },
                check: |it| {
                    let sums = match &it.buffers {
                        Some((u, _)) => u.to_vec()?,
                        None => memory::read_static(&it.device)?,
                    };
                    compare(&sums, (0..STATIC_ELEMENTS).map(|i| (i, i as f32 + 1.0)))
                },
            })
        }
    };
    vec![
        Case::new("buffers", "`u` and `v` are parameters", prepare(false)),
        Case::new(
            "static arrays",
            "`u` and `v` are the module's, by name",
            prepare(true),
        ),
    ]
}

fn patterns() -> Vec<Case> {
    let mut cases = Vec::new();
    for pattern in Pattern::ALL {
        for caches in Caches::ALL {
            let prepare = move |device: &Device, scale: Scale| {
                let elements = scale.pick(1 << 26, 1 << 14);
                Ok(Work {
                    work: 2.0 * bytes::<f32>(elements),
                    state: Copied {
                        device: device.clone(),
                        kind: (pattern, caches),
                        x: device.upload(&indices(elements + MISALIGNMENT))?,
                        y: device.zeros(elements)?,
                    },
                    launch: |it| memory::load(&it.device, it.kind.0, it.kind.1, &it.x, &mut it.y),
                    check: |it| {
                        let x = indices(it.x.len());
                        let elements = it.y.len();
                        let value = |i| x[it.kind.0.place(i, elements)];
                        compare(&it.y.to_vec()?, (0..elements).map(|i| (i, value(i))))
                    },
                })
            };
            let name = format!("{}, {}", pattern.info().term, caches.info().term);
            cases.push(Case::new(name, pattern.info().change, prepare));
        }
    }
    cases
}

/// Memory of the host of both kinds.
enum Host<T: Element> {
    Pageable(Vec<T>),
    Pinned(PinnedBuffer<T>),
}

impl<T: Element> Host<T> {
    fn elements(&mut self) -> &mut [T] {
        match self {
            Self::Pageable(elements) => elements,
            Self::Pinned(elements) => elements,
        }
    }
}

struct Copies {
    host: Host<f32>,
    there: Buffer<f32>,
}

fn copies() -> Vec<Case> {
    let mut cases = Vec::new();
    for (is_pinned, kind) in [(false, "pageable"), (true, "pinned")] {
        for (is_upload, way) in [(true, "to the device"), (false, "to the host")] {
            let prepare = move |device: &Device, scale: Scale| {
                copy(device, scale.pick(1 << 26, 1 << 14), is_pinned, is_upload)
            };
            let change = match is_pinned {
                true => "the system keeps the memory in place: the device copies by itself",
                false => "the driver copies by way of its own buffer",
            };
            cases.push(Case::new(format!("{kind}, {way}"), change, prepare).uncounted());
        }
    }
    cases
}

fn copy(
    device: &Device,
    elements: usize,
    is_pinned: bool,
    is_upload: bool,
) -> Outcome<Work<Copies>> {
    let mut host = match is_pinned {
        true => Host::Pinned(device.pinned(elements)?),
        false => Host::Pageable(vec![0.0; elements]),
    };
    let data = indices(elements);
    let there = match is_upload {
        true => device.zeros(elements)?,
        false => device.upload(&data)?,
    };
    if is_upload {
        host.elements().copy_from_slice(&data);
    }
    Ok(Work {
        work: bytes::<f32>(elements),
        state: Copies { host, there },
        launch: match is_upload {
            true => |it| it.there.copy_from_slice(it.host.elements()),
            false => |it| it.there.copy_to_slice(it.host.elements()),
        },
        // Both sides have what one had before.
        check: |it| {
            let data = indices(it.there.len());
            let is_right = it.host.elements() == data && it.there.to_vec()? == data;
            is_right.then_some(()).ok_or("the copy differs".into())
        },
    })
}
