//! Files that cannot be used: refused in one line.

use crate::common::programs::fail;
use crate::harness::Header;
use tempfile::TempDir;

/// A folder with the files that the failures need.
pub fn folder_of_bad_files() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let zeros = |bytes: usize| vec![[0_u8]; bytes];
    for (name, descr, shape, bytes) in [
        ("f4.npy", "'<f4'", "(2, 3)", 24),
        ("right.npy", "'<f4'", "(3, 2)", 24),
        ("f8.npy", "'<f8'", "(3, 2)", 48),
        ("c8.npy", "'<c8'", "(2, 3)", 48),
        ("record.npy", "[('x', '<f4'), ('y', '<i4')]", "(3,)", 24),
        ("truncated.npy", "'<f4'", "(2, 3)", 17),
        ("without-data.npy", "'<f4'", "(2, 3)", 0),
        ("too-long.npy", "'<f4'", "(2, 3)", 27),
        ("immense.npy", "'<f4'", "(35184372088832, 3)", 24),
        ("uncountable.npy", "'<f4'", "(4294967296, 4294967296)", 24),
        ("negative.npy", "'<f4'", "(-2, 3)", 24),
    ] {
        Header::new(descr, shape).write(path, name, zeros(bytes));
    }
    let header = Header::new("'<f4'", "(2, 3)").bytes();
    std::fs::write(path.join("half-a-header.npy"), &header[..40]).unwrap();
    std::fs::write(path.join("magic.npy"), &header[..6]).unwrap();
    std::fs::write(path.join("empty.npy"), "").unwrap();
    std::fs::write(path.join("text.npy"), "1 2 3\n4 5 6\n").unwrap();
    std::fs::write(
        path.join("garbage.npy"),
        [&header[..10], &[b'{'; 118]].concat(),
    )
    .unwrap();
    std::fs::create_dir(path.join("folder.npy")).unwrap();
    folder
}

/// Files that cannot be used, and the error for each.
const BAD_FILES: [(&str, &[&str]); 15] = [
    ("missing.npy", &["cannot be read", "No such file"]),
    ("folder.npy", &["cannot be read"]),
    ("c8.npy", &["<c8", "f4 (float32)", "f8 (float64)"]),
    ("record.npy", &["('x', '<f4')", "f4 (float32)"]),
    ("truncated.npy", &["truncated", "last 7 bytes"]),
    ("without-data.npy", &["truncated", "last 24 bytes"]),
    ("too-long.npy", &["3 bytes after"]),
    ("immense.npy", &["truncated", "bytes are missing"]),
    ("uncountable.npy", &["[4294967296, 4294967296]", "memory"]),
    ("negative.npy", &["damaged header"]),
    ("half-a-header.npy", &["damaged header"]),
    ("magic.npy", &["damaged header"]),
    ("garbage.npy", &["brackets inside each other"]),
    ("empty.npy", &["not a NumPy file"]),
    ("text.npy", &["not a NumPy file"]),
];

#[test]
fn bad_files_are_refused_in_one_line() {
    let folder = folder_of_bad_files();
    for (file, parts) in BAD_FILES {
        let parts = [&[file], parts].concat();
        fail("sum", folder.path(), &[file], &parts);
        fail(
            "matmul",
            folder.path(),
            &[file, "right.npy", "-o", "c.npy"],
            &parts,
        );
        fail(
            "matmul",
            folder.path(),
            &["f4.npy", file, "-o", "c.npy"],
            &parts,
        );
        assert!(!folder.path().join("c.npy").exists(), "{file}");
    }
}
