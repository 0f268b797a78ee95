//! Files of `measured/tensor_core.cu`: outputs and hashes of blocks of outputs.

use crate::tensor_products::golden::BLOCK;

const MAGIC: u32 = u32::from_le_bytes(*b"TCB1");

/// The products of one instruction and one kind of operands.
pub struct Record {
    pub instruction: u32,
    pub kind: u32,
    pub outputs: usize,
    /// The first outputs, in full.
    pub full: Vec<u64>,
    /// The hashes of all blocks, including those listed in full.
    pub hashes: Vec<u64>,
}

/// The records of a file, or the reason why it is invalid.
pub fn read(file: &[u8]) -> Result<Vec<Record>, String> {
    let mut rest = file;
    let mut records = Vec::new();
    while !rest.is_empty() {
        records.push(record(&mut rest)?);
    }
    Ok(records)
}

fn record(rest: &mut &[u8]) -> Result<Record, String> {
    let mut word = || number(rest, 4).map(|word| word as u32);
    if word()? != MAGIC {
        return Err("a record does not begin with TCB1".into());
    }
    let (instruction, kind) = (word()?, word()?);
    let bytes = word()? as usize;
    let (outputs, in_full) = (word()? as usize, word()? as usize);
    let full = (0..in_full)
        .map(|_| number(rest, bytes))
        .collect::<Result<_, _>>()?;
    let hashes = (0..outputs / BLOCK)
        .map(|_| number(rest, 8))
        .collect::<Result<_, _>>()?;
    Ok(Record {
        instruction,
        kind,
        outputs,
        full,
        hashes,
    })
}

fn number(rest: &mut &[u8], bytes: usize) -> Result<u64, String> {
    let (first, others) = rest
        .split_at_checked(bytes)
        .ok_or("the file ends within a record")?;
    *rest = others;
    let mut padded = [0; 8];
    padded[..bytes].copy_from_slice(first);
    Ok(u64::from_le_bytes(padded))
}
