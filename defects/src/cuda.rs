//! Checks that the CUDA C++ kernels match the tables.

use crate::all;
use std::fs;
use std::path::Path;

#[test]
fn each_mistake_is_written_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let sources = files.filter(|it| it.extension().is_some_and(|it| it == "cu"));
    let text: String = sources.map(|it| fs::read_to_string(it).unwrap()).collect();
    for mistake in all() {
        let name = mistake.name;
        let heads = [format!("\nDEFECT({name})"), format!("\nDEFECT({name}, ")];
        let count: usize = heads.iter().map(|it| text.matches(it).count()).sum();
        assert_eq!(count, 1, "{name}");
    }
    assert_eq!(text.matches("\nDEFECT(").count(), all().count());
}
