//! Sets the fingerprint of the crate's sources, which tilewright compares with the fingerprint in
//! its PTX.

fn main() -> std::io::Result<()> {
    source_hash::export(".")
}
