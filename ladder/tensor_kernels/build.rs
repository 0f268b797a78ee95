//! Gives the crate the fingerprint of its sources, which tilewright compares with that of the
//! sources that its PTX was compiled from.

fn main() -> std::io::Result<()> {
    source_hash::export(".")
}
