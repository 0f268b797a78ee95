//! Causal attention.

use crate::common::programs::{fail, succeed};
use tempfile::TempDir;

#[test]
fn attention_is_close_to_that_in_f64() {
    let folder = TempDir::new().unwrap();
    for tokens in ["1", "50"] {
        let arguments = ["--tokens", tokens, "--device", "sim"];
        let output = succeed("attention", folder.path(), &arguments);
        let (of, error) = output.trim().split_once(", largest error ").unwrap();
        assert_eq!(of, format!("{tokens} tokens"));
        assert!(error.parse::<f64>().unwrap() < 2e-6, "{output}");
    }
    fail("attention", folder.path(), &["--heads"], &["--heads"]);
    for tokens in ["4294967296", "18446744073709551615"] {
        let arguments = ["--tokens", tokens, "--device", "sim"];
        fail("attention", folder.path(), &arguments, &["no memory"]);
    }
}
