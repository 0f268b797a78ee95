//! Programs that must not compile: one file for each promise of the host API.
//!
//! `TRYBUILD=overwrite cargo test --test compile_fail -- --ignored` writes the expected messages anew.

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn wrong_uses_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
