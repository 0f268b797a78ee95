//! Arguments as the bytes of parameters.

use crate::element::{Element, Number};
use crate::error::CheckError;
use crate::launch::{Argument, TensorShape};
use crate::memory::Memory;
use ptx::{Declaration, Type};
use simt::{Swizzle, TensorMap, TensorMapFields};
use std::collections::BTreeMap;

/// The dimensions of a tensor that bulk copies know.
const MAX_RANK: usize = 5;

/// The unit of bulk copies: rows of boxes and distances in a tensor are multiples of it.
const CHUNK_BYTES: u64 = 16;

/// Elements of a tensor's dimension, at most.
const MAX_SIZE: u64 = 1 << 32;

/// Strides are below this number of bytes.
const MAX_STRIDE: u64 = 1 << 40;

/// The alignment of a `CUtensorMap`, in bytes (`cuda.h`).
const TENSOR_MAP_ALIGNMENT: usize = 64;

/// Buffers by name, with their elements.
pub type Buffers = BTreeMap<String, (Memory, Element)>;

/// The bytes of an argument for this parameter; `bytes` is the parameter's size.
pub fn encoded(
    argument: &Argument,
    parameter: &Declaration,
    bytes: usize,
    buffers: &Buffers,
) -> Result<Vec<u8>, String> {
    match argument {
        Argument::Number { value, element } => {
            let element = element.or_else(|| element_of(parameter, bytes, *value));
            let element = element.ok_or_else(|| {
                format!("a number for a parameter of {bytes} bytes: give its type, or fields")
            })?;
            of_number(element, *value)
        }
        Argument::Fields(fields) => {
            let mut all = Vec::new();
            for field in fields {
                let bytes = field_bytes(field, buffers)?;
                let alignment = match field {
                    Argument::TensorMap(_) => TENSOR_MAP_ALIGNMENT,
                    _ => bytes.len().max(1),
                };
                all.resize(all.len().next_multiple_of(alignment), 0);
                all.extend(bytes);
            }
            if all.len() > bytes {
                return Err(format!("fields of {} bytes, of {bytes}", all.len()));
            }
            all.resize(bytes, 0);
            Ok(all)
        }
        Argument::TensorMap(shape) => tensor_map(shape, buffers),
        Argument::Buffer { .. } => field_bytes(argument, buffers),
    }
}

/// The bytes of an argument that states its own type.
fn field_bytes(argument: &Argument, buffers: &Buffers) -> Result<Vec<u8>, String> {
    match argument {
        Argument::Buffer { name, offset } => {
            let (memory, _) = buffers.get(name).ok_or_else(|| no_buffer(name))?;
            let address = (memory.address() as u64).wrapping_add_signed(*offset);
            Ok(address.to_le_bytes().into())
        }
        Argument::Number {
            value,
            element: Some(element),
        } => of_number(*element, *value),
        Argument::Number { .. } => Err("a field needs a type".to_owned()),
        Argument::Fields(_) => Err("fields within fields: list the inner ones".to_owned()),
        Argument::TensorMap(shape) => tensor_map(shape, buffers),
    }
}

fn no_buffer(name: &str) -> String {
    format!("there is no buffer `{name}`")
}

fn of_number(element: Element, value: Number) -> Result<Vec<u8>, String> {
    let bytes = element.encode(value);
    bytes.ok_or_else(|| CheckError::Number(value.as_f64(), element.name()).to_string())
}

/// The type of a number for a parameter. For an untyped (bit) parameter, it is a float if written as one.
fn element_of(parameter: &Declaration, bytes: usize, value: Number) -> Option<Element> {
    let is_single = parameter.of.bits().map(|bits| bits as usize / 8) == Some(bytes);
    let typed = match parameter.of {
        Type::F16 => Element::F16,
        Type::Bf16 => Element::Bf16,
        Type::F32 => Element::F32,
        Type::F64 => Element::F64,
        _ => match (bytes, value) {
            (1, _) => Element::U8,
            (2, Number::Integer(_)) => Element::U16,
            (4, Number::Integer(_)) => Element::U32,
            (8, Number::Integer(_)) => Element::U64,
            (4, Number::Float(_)) => Element::F32,
            (8, Number::Float(_)) => Element::F64,
            _ => return None,
        },
    };
    (is_single || typed.bytes() == bytes).then_some(typed)
}

fn tensor_map(shape: &TensorShape, buffers: &Buffers) -> Result<Vec<u8>, String> {
    let named = buffers.get(&shape.buffer);
    let (memory, element) = named.ok_or_else(|| no_buffer(&shape.buffer))?;
    let rank = shape.sizes.len();
    if !(1..=MAX_RANK).contains(&rank) || shape.box_sizes.len() != rank {
        return Err(format!(
            "a tensor map has 1 to {MAX_RANK} sizes, and as many of its box"
        ));
    }
    if !shape.strides.is_empty() && shape.strides.len() != rank - 1 {
        let found = shape.strides.len();
        return Err(format!(
            "{found} strides of a tensor of {rank} dimensions: one for each from the second on"
        ));
    }
    let bytes = element.bytes() as u64;
    let mut fields = TensorMapFields {
        address: memory.address() as u64,
        element_bytes: element.bytes() as u32,
        rank: rank as u32,
        sizes: [1; MAX_RANK],
        strides: [0; MAX_RANK - 1],
        box_sizes: [1; MAX_RANK],
        swizzle: match shape.swizzle {
            0 => Swizzle::None,
            32 => Swizzle::B32,
            64 => Swizzle::B64,
            128 => Swizzle::B128,
            other => return Err(format!("no swizzle has rows of {other} bytes")),
        },
        view_start: memory.address() as u64,
        view_bytes: memory.bytes() as u64,
    };
    fields.sizes[..rank].copy_from_slice(&shape.sizes);
    fields.box_sizes[..rank].copy_from_slice(&shape.box_sizes);
    let mut packed = Some(bytes);
    for dimension in 0..rank - 1 {
        packed = packed.and_then(|it| it.checked_mul(shape.sizes[dimension]));
        let stride = shape.strides.get(dimension).copied().or(packed);
        let stride = stride.ok_or("a tensor without gaps of more than 2^64 bytes")?;
        fields.strides[dimension] = stride;
    }
    check_tensor(&fields, shape.swizzle)?;
    let map = TensorMap::new(fields);
    match map.fields() {
        Some(_) => Ok(simt_bytes(&map)),
        None => Err("a box has 1 to 256 elements by dimension".to_owned()),
    }
}

/// Fails if no driver accepts a map of the tensor (CUDA Driver API, `cuTensorMapEncodeTiled`, without interleaving).
fn check_tensor(fields: &TensorMapFields, swizzle: u32) -> Result<(), String> {
    let rank = fields.rank as usize;
    let sizes = &fields.sizes[..rank];
    if let Some(size) = sizes.iter().find(|it| !(1..=MAX_SIZE).contains(*it)) {
        return Err(format!(
            "a tensor of {size} elements in a dimension: 1 to 2^32"
        ));
    }
    let strides = &fields.strides[..rank - 1];
    let is_stride = |it: &u64| it.is_multiple_of(CHUNK_BYTES) && *it < MAX_STRIDE;
    if let Some(stride) = strides.iter().find(|it| !is_stride(it)) {
        return Err(format!(
            "a stride of {stride} bytes: strides are multiples of {CHUNK_BYTES} below 2^40"
        ));
    }
    let row = u64::from(fields.box_sizes[0]) * u64::from(fields.element_bytes);
    if !row.is_multiple_of(CHUNK_BYTES) || (swizzle > 0 && row > swizzle.into()) {
        return Err(format!(
            "a box with rows of {row} bytes: rows are whole {CHUNK_BYTES} bytes, and at most as long as the swizzle's"
        ));
    }
    Ok(())
}

fn simt_bytes(map: &TensorMap) -> Vec<u8> {
    bytemuck::bytes_of(map).to_vec()
}
