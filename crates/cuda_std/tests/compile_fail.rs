//! What `#[kernel]` and the types of this crate refuse, and how they say it: one file for each.
//!
//! `TRYBUILD=overwrite cargo test -p tilewright-cuda-std --test compile_fail -- --ignored`
//! writes the expected messages anew.

#[test]
#[ignore = "slow: cargo test -- --ignored"]
fn wrong_kernels_do_not_compile() {
    let cases = trybuild::TestCases::new();
    // With a case that runs, all are compiled to the end, and constants are checked.
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
}
