//! The files of a crate that are compiled for the GPU.

use super::tokens::{device_code, is_word, text_of};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree, fallback};
use std::fs;
use std::path::{Path, PathBuf};

/// The tokens of the crate root and of the modules that it names.
///
/// Modules made by macros are not found. The compiler reports files that cannot be read or parsed.
pub fn files_of_crate(root: PathBuf) -> Vec<(PathBuf, TokenStream)> {
    // The compiler's tokens of a text all have the macro call's location. The fallback's have
    // lines.
    fallback::force();
    let mut files = Vec::new();
    let folder = folder_of(&root);
    collect(root, folder, &mut files);
    fallback::unforce();
    files
}

fn collect(path: PathBuf, folder: PathBuf, files: &mut Vec<(PathBuf, TokenStream)>) {
    let Some(tokens) = fs::read_to_string(&path)
        .ok()
        .and_then(|it| it.parse().ok())
    else {
        return;
    };
    let modules = modules(&tokens);
    let beside = folder_of(&path);
    files.push((path, tokens));
    for module in modules {
        if let Some(chosen) = module.path {
            let path = beside.join(chosen);
            let folder = folder_of(&path);
            collect(path, folder, files);
            continue;
        }
        let inner = module
            .within
            .iter()
            .fold(folder.clone(), |folder, name| folder.join(name));
        let own_folder = inner.join(&module.name);
        let candidates = [
            inner.join(format!("{}.rs", module.name)),
            own_folder.join("mod.rs"),
        ];
        if let Some(path) = candidates.into_iter().find(|path| path.is_file()) {
            collect(path, own_folder, files);
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// `mod name;`, in a file.
struct Module {
    name: String,
    /// The value of `#[path = "..."]`.
    path: Option<String>,
    /// The inline modules around it.
    within: Vec<String>,
}

/// The modules with their own files.
fn modules(tokens: &TokenStream) -> Vec<Module> {
    let mut modules = Vec::new();
    collect_modules(tokens, &[], &mut modules);
    modules
}

fn collect_modules(tokens: &TokenStream, within: &[String], modules: &mut Vec<Module>) {
    let trees = device_code(tokens);
    let mut path = None;
    for (index, tree) in trees.iter().enumerate() {
        match (tree, trees.get(index + 1), trees.get(index + 2)) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(attribute)), _)
                if hash.as_char() == '#' =>
            {
                path = path.or_else(|| path_of(attribute));
            }
            (word, Some(TokenTree::Ident(name)), Some(end)) if is_word(word, "mod") => {
                let (name, path) = (name.to_string(), path.take());
                match end {
                    TokenTree::Group(body) => {
                        let within: Vec<_> = within.iter().cloned().chain([name]).collect();
                        collect_modules(&body.stream(), &within, modules);
                    }
                    _ => modules.push(Module {
                        name,
                        path,
                        within: within.to_vec(),
                    }),
                }
            }
            (TokenTree::Punct(end), ..) if end.as_char() == ';' => path = None,
            (TokenTree::Group(body), ..) if body.delimiter() == Delimiter::Brace => path = None,
            _ => {}
        }
    }
}

/// The value of `#[path = "..."]`.
fn path_of(attribute: &Group) -> Option<String> {
    let text = text_of(attribute);
    let path = text.strip_prefix("path=\"")?.strip_suffix('"')?;
    Some(path.to_owned())
}

/// Whether the crate root has an unconditional `#![no_std]`. With a condition for the GPU, the
/// host's build would accept `std`.
pub fn is_no_std(root: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = root.clone().into_iter().collect();
    trees.windows(2).any(|pair| match pair {
        [TokenTree::Punct(mark), TokenTree::Group(attribute)] if mark.as_char() == '!' => {
            ["no_std", "cfg_attr(not(test),no_std)"].contains(&text_of(attribute).as_str())
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_says_no_std() {
        let is_no_std = |root: &str| super::is_no_std(&root.parse().unwrap());
        assert!(is_no_std(
            "//! Kernels.\n#![deny(missing_docs)]\n#![no_std]\nfn f() {}"
        ));
        assert!(!is_no_std(
            "#![cfg_attr(target_arch = \"nvptx64\", no_std)]"
        ));
        assert!(!is_no_std("fn f() {}"));
    }

    #[test]
    fn modules_with_files_are_listed() {
        let source = "mod a; #[path = \"x/b.rs\"] pub mod b; mod c { mod d; } #[cfg(test)] mod e;";
        let found = modules(&source.parse().unwrap());
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.path.as_deref(), it.within.join("/")))
            .collect();
        let none = String::new();
        assert_eq!(
            found,
            [
                ("a", None, none.clone()),
                ("b", Some("x/b.rs"), none),
                ("d", None, "c".to_owned())
            ]
        );
    }
}
