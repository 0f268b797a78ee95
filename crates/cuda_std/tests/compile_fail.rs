//! Code that `#[kernel]` and the types of this crate reject, and the messages: one file per case.
//!
//! `TRYBUILD=overwrite cargo test -p tilewright-cuda-std --test compile_fail -- --ignored` rewrites
//! the expected messages.

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn wrong_kernels_do_not_compile() {
    let cases = trybuild::TestCases::new();
    // With a case that must run, all are compiled to the end, so that constants are checked, too.
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
}
