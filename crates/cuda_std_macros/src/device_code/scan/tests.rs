//! The findings in short sources.

use super::*;

/// The findings as `line:column start of the message`.
fn found(source: &str) -> Vec<String> {
    let tokens: TokenStream = source.parse().unwrap();
    let own = own_methods([&tokens].into_iter());
    let findings = findings(&tokens, &own).into_iter();
    let line = |Finding { span, message }| {
        let start = message
            .split(['`', ':'])
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let place = span.start();
        format!("{}:{} {start}", place.line, place.column + 1)
    };
    findings.map(line).collect()
}

#[test]
fn methods_of_std_are_found_and_those_of_core_are_not() {
    assert_eq!(found("fn f(x: f32) { x.exp() }"), ["1:18 exp"]);
    assert_eq!(found("fn f() {\n  (1.0_f64).powf(2.0)\n}"), ["2:13 powf"]);
    assert_eq!(
        found("fn f(x: f32) { f32::sqrt(x) + f64::consts() }"),
        ["1:21 sqrt"]
    );
    assert_eq!(found("m! { x.sin_cos() }"), ["1:8 sin_cos"]);
    let core = "fn f(x: f32) { x.abs().max(1.0).mul_add(x, x).to_bits(); exp(x); x.exp }";
    assert_eq!(found(core), [""; 0]);
}

#[test]
fn a_method_s_message_says_what_to_write() {
    let messages = |source: &str| {
        let tokens: TokenStream = source.parse().unwrap();
        let found = findings(&tokens, &BTreeSet::new()).into_iter();
        found.map(|it| it.message).collect::<Vec<_>>()
    };
    let [exp, power] = &messages("fn f(x: f32) { x.exp() + x.powf(x) }")[..] else {
        panic!("two findings");
    };
    assert!(exp.ends_with("write `cuda_std::math::exp(x)`"), "{exp}");
    assert!(
        power.ends_with("write `cuda_std::math::pow(x, y)`"),
        "{power}"
    );
}

#[test]
fn methods_of_the_crate_s_own_types_are_its_own() {
    let own = "impl Dual { fn exp(self) -> Dual { self } } fn f(x: Dual) { x.exp() }";
    assert_eq!(found(own), [""; 0]);
    // In the simulator the inherent method of f32 is called, and not this one.
    let hidden = "impl Math for f32 { fn exp(self) -> f32 { self } } fn f(x: f32) { x.exp() }";
    assert_eq!(found(hidden), ["1:69 exp"]);
}

#[test]
fn items_and_macros_of_a_host_are_found() {
    assert_eq!(found("extern crate alloc;"), ["1:1 extern crate alloc"]);
    assert_eq!(found("extern crate std as s;"), ["1:1 extern crate std"]);
    assert_eq!(found("extern crate core;"), [""; 0]);
    assert_eq!(found("fn f() { println!(\"x\") }"), ["1:10 println!"]);
    assert_eq!(
        found("fn f() { static mut N: u32 = 0; }"),
        ["1:10 static mut"]
    );
}

#[test]
fn thread_locals_are_found() {
    let static_of_cell = "static N: Cell<u32> = const { Cell::new(0) };";
    for path in ["", "std::", "::std::"] {
        let source = format!("{path}thread_local! {{ {static_of_cell} }}");
        let column = path.len() + 1;
        // The macro also makes a static that threads write.
        let expected = [
            format!("1:{column} thread_local!"),
            format!("1:{} static", column + 16),
        ];
        assert_eq!(found(&source), expected);
    }
    assert_eq!(
        found("fn f() { thread_local!(static N: u32 = wait()); N.with(|n| *n) }"),
        ["1:10 thread_local!"]
    );
    assert_eq!(
        found("fn f(thread_local: u32) -> bool { thread_local != 0 }"),
        [""; 0]
    );
    assert_eq!(
        found("#[cfg(test)] thread_local! { static N: u32 = 0; }"),
        [""; 0]
    );
}

#[test]
fn code_for_hosts_and_tests_is_their_own() {
    for condition in ["test", "not(target_arch = \"nvptx64\")"] {
        let items =
            format!("#[cfg({condition})] #[x] mod tests {{ fn f() {{ vec![1.0.exp()] }} }}");
        assert_eq!(found(&items), [""; 0]);
        let item = format!("#[cfg({condition})] extern crate alloc; static mut N: u32 = 0;");
        assert_eq!(found(&item).len(), 1);
    }
    assert_eq!(
        found("#[cfg(target_arch = \"nvptx64\")] fn f() { 1.0.exp() }").len(),
        1
    );
}

#[test]
fn statics_that_threads_write_are_found() {
    assert_eq!(
        found("static N: AtomicU32 = AtomicU32::new(0);"),
        ["1:1 static"]
    );
    assert_eq!(
        found("fn f() { static N: [core::cell::UnsafeCell<u32>; 2] = x; }"),
        ["1:10 static"]
    );
    assert_eq!(found("static N: [f32; 3] = [AtomicU32; 3];"), [""; 0]);
}

#[test]
fn shared_arrays_of_generic_length_are_found() {
    let array = "{ let a = shared_array![f32; 2 * (N + 1)]; }";
    assert_eq!(
        found(&format!("fn f<const N: usize>() {array}")),
        ["1:58 shared_array!"]
    );
    assert_eq!(
        found(&format!(
            "impl<'a, F: Fn() -> f32, const N: usize> A<'a> {{ fn f() {array} }}"
        ))
        .len(),
        1
    );
    assert_eq!(found("fn f<T: Pod>() { shared_tile![T; 4, 4] }").len(), 1);
    assert_eq!(
        found("impl A { fn f() { shared_array![f32; Self::LEN] } }").len(),
        1
    );
}

#[test]
fn shared_arrays_of_constant_length_are_not() {
    let array = "{ let a = shared_array![f32; N]; }";
    // Parameters of other functions, before and after, and of a bound.
    let others = "fn g<const N: usize>(a: [f32; N]); fn h<const N: usize>() {}";
    assert_eq!(found(&format!("{others} fn f() {array} {others}")), [""; 0]);
    assert_eq!(found(&format!("fn f<'N, T: Tile<N>>() {array}")), [""; 0]);
}
