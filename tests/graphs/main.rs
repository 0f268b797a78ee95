//! Graphs: calls that are recorded once, and run again and again.

#[path = "../common/mod.rs"]
mod common;
mod segments;

use common::axpy::{AXPY, Axpy};
use common::{devices, machines};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tilewright::{Buffer, Device, ErrorKind, Graph, LaunchConfig, ModuleSource, Result, ops};
use tilewright_kernels::reduce::Reduction;

const LEN: usize = 5000;

/// Adds `factor * x` to `y`.
fn add(
    stream: &Device,
    factor: f32,
    x: tilewright::BufferView<'_, f32>,
    y: tilewright::BufferViewMut<'_, f32>,
) -> Result<()> {
    let config = LaunchConfig::for_elements(x.len(), 256);
    stream.load(&AXPY)?.launch(Axpy, config, (factor, x, y))
}

fn numbers(round: usize) -> Vec<f32> {
    (0..LEN)
        .map(|i| ((i * 7 + round * 13) % 31) as f32 - 15.0)
        .collect()
}

/// The side of a matrix whose product splits f32 on a GPU, where it allocates memory; a small one on the simulator.
fn side(device: &Device) -> usize {
    if device.is_simulator() { 48 } else { 1024 }
}

#[test]
fn each_launch_has_the_bits_of_the_calls() {
    for device in machines() {
        let side = side(&device);
        let operands = (
            device.zeros::<f32>(side * side).unwrap(),
            device
                .matrix((side, side), &vec![0.0_f32; side * side])
                .unwrap(),
            [(); 3].map(|()| device.zeros::<f32>(side).unwrap()),
            vec![device.zeros::<f32>(1).unwrap()],
        );
        let mut graph = device
            .capture(
                operands,
                |stream, (x, mut product, [mut sums, mut scan, mut twice], mut total)| {
                    let x = x.view().as_matrix((side, side))?;
                    stream.matmul_into(x, x.t(), &mut product)?;
                    stream.reduce_rows_into(product.view(), ops::Sum, sums.view_mut())?;
                    stream.scan_inclusive_into(sums.view(), scan.view_mut())?;
                    twice.copy_from_buffer(scan.view())?;
                    add(stream, 1.0, scan.view(), twice.view_mut())?;
                    stream.reduce_into(twice.view(), ops::Max, total[0].view_mut())
                },
            )
            .unwrap();
        for round in 0..4 {
            let host: Vec<f32> = numbers(round)
                .into_iter()
                .cycle()
                .take(side * side)
                .collect();
            graph.views_mut().0.copy_from_slice(&host).unwrap();
            graph.launch().unwrap();

            let x = device.matrix((side, side), &host).unwrap();
            let product = device.matmul(&x, x.t()).unwrap();
            let sums = device.reduce_rows(&product, ops::Sum).unwrap();
            let scan = device.scan_inclusive(&sums).unwrap().to_vec().unwrap();
            let twice: Vec<f32> = scan.iter().map(|x| x + x).collect();
            let (_, found, [_, _, of_graph], total) = graph.operands();
            assert_eq!(found.to_vec().unwrap(), product.to_vec().unwrap());
            assert_eq!(of_graph.to_vec().unwrap(), twice);
            let largest = twice.iter().copied().fold(f32::MIN, f32::max);
            assert_eq!(total[0].to_vec().unwrap(), [largest]);
        }
    }
}

/// Work of other streams that uses the operands comes before or after a launch, in the order of the calls.
#[test]
fn launches_are_ordered_with_other_streams() {
    for device in machines() {
        let other = device.new_stream().unwrap();
        let operands = (device.zeros(LEN).unwrap(), other.zeros(LEN).unwrap());
        let mut graph = device
            .capture(operands, |stream, (x, y)| add(stream, 2.0, x.view(), y))
            .unwrap();
        let ones = other.upload(&vec![1.0_f32; LEN]).unwrap();
        for _ in 0..50 {
            let (x, _) = graph.views_mut();
            add(&other, 1.0, ones.view(), x).unwrap();
            graph.launch().unwrap();
            let (_, y) = graph.views_mut();
            add(&other, -1.0, ones.view(), y).unwrap();
        }
        let (x, y) = graph.into_operands();
        // 2 * (1 + ... + 50) - 50.
        assert_eq!(device.reduce_sum(&y).unwrap(), 2500.0 * LEN as f32);
        assert_eq!(other.reduce_sum(&x).unwrap(), 50.0 * LEN as f32);
    }
}

#[test]
fn an_update_has_other_scalars() {
    for device in devices() {
        let operands = (
            device.upload(&[1.0_f32; LEN]).unwrap(),
            device.zeros(LEN).unwrap(),
        );
        let mut graph = device
            .capture(operands, |stream, (x, y)| add(stream, 2.0, x.view(), y))
            .unwrap();
        graph.launch().unwrap();
        graph
            .update(|stream, (x, y)| add(stream, 0.5, x.view(), y))
            .unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.operands().1.to_vec().unwrap(), vec![2.5; LEN]);
    }
}

/// Memory that is allocated while recording is zero, or unspecified, in each launch.
#[test]
fn temporaries_start_anew_in_each_launch() {
    for device in devices() {
        let operands = (
            device.upload(&[3.0_f32; LEN]).unwrap(),
            device.zeros(LEN).unwrap(),
        );
        let before = device.memory().unwrap().used;
        let mut graph = device
            .capture(operands, |stream, (x, mut y)| {
                let mut sum = stream.zeros::<f32>(LEN)?;
                add(stream, 1.0, x.view(), sum.view_mut())?;
                y.copy_from_buffer(&sum)
            })
            .unwrap();
        for _ in 0..3 {
            graph.launch().unwrap();
            assert!(graph.operands().1.to_vec().unwrap() == [3.0; LEN]);
        }
        let operands = graph.into_operands();
        device.synchronize().unwrap();
        // The memory of a GPU is that of all tests.
        if device.is_simulator() {
            assert_eq!(device.memory().unwrap().used, before);
        }
        drop(operands);
    }
}

fn refused<T>(result: Result<T>, reason: &str) {
    let error = result.err().expect("a call that no graph can record");
    assert!(
        matches!(error.kind(), ErrorKind::NotRecorded { .. }) && error.to_string().contains(reason),
        "{error}"
    );
}

#[test]
fn calls_that_wait_are_refused() {
    type Call = fn(&Device, &Buffer<f32>) -> Result<()>;
    let calls: [Call; 7] = [
        |stream, x| stream.reduce_sum(x).map(drop),
        |stream, x| {
            let mut copy = stream.zeros(x.len())?;
            copy.copy_from_buffer(x)?;
            copy.to_vec().map(drop)
        },
        |stream, _| stream.upload(&[1.0_f32]).map(drop),
        |stream, _| stream.synchronize(),
        |stream, _| stream.record_event().map(drop),
        |stream, _| stream.new_stream().map(drop),
        |stream, _| {
            stream
                .capture(Vec::<Buffer<f32>>::new(), |_, _| Ok(()))
                .map(drop)
        },
    ];
    for device in devices() {
        let x = device.zeros::<f32>(LEN).unwrap();
        for call in calls {
            let capture = |ignore: bool| {
                device.capture(Vec::<Buffer<f32>>::new(), |stream, _| {
                    match call(stream, &x) {
                        Err(error) if !ignore => Err(error),
                        _ => Ok(()),
                    }
                })
            };
            refused(capture(false), "a graph cannot record");
            refused(capture(true), "whose error was ignored");
        }
        // The device still works.
        assert_eq!(device.reduce_sum(&x).unwrap(), 0.0);
    }
}

#[test]
fn memory_that_the_graph_does_not_own_is_refused() {
    for device in devices() {
        let ones = device.upload(&[1.0_f32; LEN]).unwrap();
        let mut sum = device.zeros(LEN).unwrap();
        refused(
            device.capture(device.zeros(LEN).unwrap(), |stream, y| {
                add(stream, 1.0, ones.view(), y)
            }),
            "that the graph does not own",
        );
        refused(
            device.capture(device.zeros(LEN).unwrap(), |stream, x| {
                add(stream, 1.0, x.view(), sum.view_mut())
            }),
            "that the graph does not own",
        );
        // Allocated in the number of a stream that has ended, perhaps the number of the stream that records.
        let other = device.new_stream().unwrap();
        let of_ended = other.upload(&[1.0_f32; LEN]).unwrap();
        drop(other);
        refused(
            device.capture(device.zeros(LEN).unwrap(), |stream, y| {
                add(stream, 1.0, of_ended.view(), y)
            }),
            "that the graph does not own",
        );
        let mut escaped = None;
        refused(
            device.capture(device.upload(&[1.0_f32; LEN]).unwrap(), |stream, x| {
                let y = escaped.insert(stream.zeros(LEN)?);
                add(stream, 1.0, x.view(), y.view_mut())
            }),
            "that outlives the capture",
        );
        assert!(escaped.is_some_and(|y| y.len() == LEN));
        assert_eq!(device.reduce_sum(&sum).unwrap(), 0.0);
    }
}

#[test]
fn the_stream_that_recorded_is_refused_afterwards() {
    for device in devices() {
        let mut kept = None;
        let mut graph = device
            .capture(device.upload(&[1.0_f32; LEN]).unwrap(), |stream, mut x| {
                kept = Some(stream.clone());
                let copy = x.view();
                let mut other = stream.uninit(LEN)?;
                other.copy_from_buffer(copy)?;
                add(stream, 1.0, other.view(), x.view_mut())
            })
            .unwrap();
        refused(
            kept.as_ref().unwrap().zeros::<f32>(4),
            "the device that the graph was made on",
        );
        graph.launch().unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.operands().to_vec().unwrap(), vec![4.0; LEN]);
    }
}

#[test]
fn a_panic_while_recording_ends_it() {
    for device in devices() {
        let x = device.upload(&[1.0_f32; LEN]).unwrap();
        let mut graph: Graph<_> = device.capture(x, |_, _| Ok(())).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            graph.update(|stream, mut x| {
                let copy = stream.zeros::<f32>(LEN)?;
                x.copy_from_buffer(&copy)?;
                panic!("of purpose")
            })
        }));
        assert!(panicked.is_err());
        // Nothing is recorded.
        graph.launch().unwrap();
        assert_eq!(graph.operands().to_vec().unwrap(), vec![1.0; LEN]);
        graph
            .update(|stream, mut x| {
                let copy = stream.zeros::<f32>(LEN)?;
                x.copy_from_buffer(&copy)
            })
            .unwrap();
        graph.launch().unwrap();
        assert_eq!(device.reduce_sum(graph.operands()).unwrap(), 0.0);
    }
}

#[test]
fn operands_of_another_device_are_refused() {
    for device in devices() {
        let theirs = Device::simulator().zeros::<f32>(4).unwrap();
        let error = device.capture(theirs, |_, _| Ok(())).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::WrongDevice { .. }),
            "{error}"
        );
    }
}

/// A call that is refused on the recording stream does not change the memory that the graph's reductions share.
#[test]
fn refused_calls_of_the_stream_that_recorded_free_nothing() {
    for device in devices() {
        let side = 700;
        let operands = (
            device.upload(&vec![1.0_f32; side * side]).unwrap(),
            device.zeros::<f32>(1).unwrap(),
            device.zeros::<f32>(side).unwrap(),
        );
        let mut kept = None;
        let mut graph = device
            .capture(operands, |stream, (x, sum, sums)| {
                kept = Some(stream.clone());
                stream.reduce_sum_into(x.view(), sum)?;
                let rows = x.view().as_matrix((side, side))?;
                stream.reduce_rows_into(rows, ops::Sum, sums)
            })
            .unwrap();
        let stream = kept.unwrap();
        let x = device.zeros::<f32>(side * side).unwrap();
        let mut sums = device.zeros::<f32>(side).unwrap();
        let ended = "the device that the graph was made on";
        refused(
            stream.reduce_sum_into(&x, sums.slice_mut(..1).unwrap()),
            ended,
        );
        let rows = x.view().as_matrix((side, side)).unwrap();
        refused(stream.reduce_rows_into(rows, ops::Sum, &mut sums), ended);
        graph.launch().unwrap();
        let (_, sum, sums) = graph.operands();
        assert_eq!(sum.to_vec().unwrap(), [(side * side) as f32]);
        assert_eq!(sums.to_vec().unwrap(), vec![side as f32; side]);
    }
}

/// Adds elements, and panics at a negative one.
pub struct OfPositive;

impl Reduction<f32> for OfPositive {
    type Accumulator = f32;
    type Output = f32;
    const IDENTITY: f32 = 0.0;

    fn lift(element: f32, _index: usize) -> f32 {
        assert!(element >= 0.0, "a negative element");
        element
    }

    fn combine(left: f32, right: f32) -> f32 {
        left + right
    }

    fn finish(total: f32, _elements: usize) -> f32 {
        total
    }
}

tilewright_kernels::reductions! {
    /// Adds elements that are not negative.
    sum_positive: OfPositive of f32;
}
// SAFETY: there are no images that could differ from the kernel.
static POSITIVE: ModuleSource = unsafe { ModuleSource::new("positive", &[]) };

/// A launch that fails leaves no counts behind. A panic of a GPU's kernel ends its device.
#[test]
fn a_launch_after_one_that_failed_is_right() {
    let device = Device::simulator();
    let mut host = vec![1.0_f32; 1 << 20];
    let operands = (
        device.upload(&host).unwrap(),
        device.zeros::<f32>(1).unwrap(),
    );
    let mut graph = device
        .capture(operands, |stream, (x, sum)| {
            stream
                .load(&POSITIVE)?
                .reduce_into(sum_positive, x.view(), sum)
        })
        .unwrap();
    for place in [0, host.len() / 2, host.len() - 1] {
        host[place] = -1.0;
        graph.views_mut().0.copy_from_slice(&host).unwrap();
        graph.launch().unwrap_err();
        host[place] = 1.0;
        graph.views_mut().0.copy_from_slice(&host).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.operands().1.to_vec().unwrap(), [host.len() as f32]);
    }
}
