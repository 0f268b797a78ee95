//! Groups of devices.

use crate::{Line, says};
use tilewright::{Device, DeviceGroup, GroupId, ShardedMatmul, Sharding};

pub fn table() -> Vec<Line> {
    let (group, other) = (
        DeviceGroup::simulated(2).unwrap(),
        DeviceGroup::simulated(2).unwrap(),
    );
    let device = Device::simulator();
    let x = group.upload(&[1.0_f32, 2.0]).unwrap();
    let y = group.upload(&[1.0_f32]).unwrap();
    let none = group.zeros::<f32>(0).unwrap();
    let foreign = other.upload(&[1.0_f32, 2.0]).unwrap();
    let matrix = |sharding| group.matrix((2, 2), &[1.0_f32; 4], sharding).unwrap();
    let (rows, columns) = (matrix(Sharding::Rows), matrix(Sharding::Columns));
    let mut out = matrix(Sharding::Columns);
    let replicated = matrix(Sharding::Replicated);
    let wide = group
        .matrix((3, 1), &[1.0_f32; 3], Sharding::Replicated)
        .unwrap();
    let split = group.matrix((2, 1), &[1.0_f32; 2], Sharding::Rows).unwrap();
    let mut lonely = [device.zeros::<f32>(1).unwrap()];
    let on = |rank: usize, len| group.devices()[rank].zeros::<f32>(len).unwrap();
    let uneven = [on(0, 2), on(1, 1)];
    vec![
        says(
            DeviceGroup::from_devices([]),
            "DeviceGroup::from_devices: a group needs at least one device",
        ),
        says(
            DeviceGroup::from_devices([device.clone(), device.clone()]),
            "DeviceGroup::from_devices: ranks 0 and 1 are the same device; give each rank a device of its own",
        ),
        says(
            x.runs(2),
            "runs: there is no rank 2: the group has 2 ranks, numbered from 0",
        ),
        says(
            group.reduce_sum(&foreign),
            "reduce_sum: the buffer to reduce belongs to another group; create all operands with one `DeviceGroup` or \
             its clones",
        ),
        says(
            group.reduce_dot(&x, &y),
            "reduce_dot: the second buffer has 1 element, and needs 2: as many as the first buffer",
        ),
        says(
            group.reduce(&none, tilewright::ops::Max),
            "reduce: the buffer to reduce is empty, and this operation needs at least one element; check for an empty \
             input first",
        ),
        says(
            group.broadcast(0, &mut lonely),
            "broadcast: the list of buffers has 1 element, and needs 2: one buffer for each rank of this process",
        ),
        says(
            group.all_gather(&uneven),
            "all_gather: the buffer of rank 1 has 1 element, and needs 2: as many as the first buffer",
        ),
        says(
            group.matmul(&columns, &columns),
            "matmul: A is sharded by columns and B sharded by columns, which this call cannot multiply; reshard A to \
             rows, or replicate it",
        ),
        says(
            group.matmul(&replicated, &rows),
            "matmul: A is replicated and B sharded by rows, which this call cannot multiply; reshard B to columns, or \
             replicate it",
        ),
        says(
            group.matmul_into(&rows, &replicated, &mut out),
            "matmul_into: C is sharded by columns and the product of A and B sharded by rows, which this call cannot \
             multiply; reshard C as the product is",
        ),
        says(
            ShardedMatmul::new(&rows, &replicated).row_bias(&wide).run(),
            "ShardedMatmul::run: the shape that the product needs is 2x1 and the row bias is 3x1: vectors are Mx1 for \
             the rows of the product and 1xN for its columns",
        ),
        says(
            ShardedMatmul::new(&rows, &replicated)
                .row_bias(&split)
                .run(),
            "ShardedMatmul::run: the row bias is sharded by rows, which this call cannot multiply; replicate the scales \
             and the biases",
        ),
        says(
            "here".parse::<GroupId>(),
            "GroupId::from_str: `here` is not the id of a group: an id is tcp:ADDRESS:PORT, with a numeric \
             address as in tcp:127.0.0.1:4000, or nccl: and 256 hexadecimal digits",
        ),
    ]
}
