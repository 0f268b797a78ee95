//! The two machines of `cuda_std`, `src/machine/nvptx` and `src/machine/simulated`, export the same items. Otherwise
//! a missing or different function would only show when kernels are compiled for that machine.

use quote::ToTokens as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use syn::{FnArg, Item, Pat, Signature, TraitItem, UseTree};

/// Items of one machine. Static arrays are statics on a GPU and launch memory in the simulator, so
/// their macros depend on the machine.
const OF_ONE_MACHINE: [&str; 2] = ["memory::static_array", "memory::static_shared"];

/// The macro that makes functions without arguments that return a u32, one for each `name = ...;`.
const REGISTER_MACRO: &str = "special_registers";

/// A machine's exports: a description by `file::name`.
type Offer = BTreeMap<String, String>;

#[test]
fn both_machines_offer_the_same() {
    let (gpu, simulated) = (offer("nvptx"), offer("simulated"));
    assert!(gpu.len() > 40, "the exports are found: {gpu:#?}");
    for place in gpu.keys().chain(simulated.keys()) {
        let is_alike = gpu.get(place) == simulated.get(place);
        let may_differ = OF_ONE_MACHINE.contains(&place.as_str());
        let (gpu, simulated) = (gpu.get(place), simulated.get(place));
        assert!(
            is_alike != may_differ,
            "{place} is {gpu:?} on a GPU and {simulated:?} in the simulator"
        );
    }
}

#[test]
fn a_difference_is_seen() {
    let described = |source: &str| describe(&syn::parse_str(source).expect("an item"));
    let load =
        described("pub unsafe fn load<T, const N: usize>(at: *const T, len: usize) -> [T; N] {}");
    let unused = described(
        "#[inline] pub unsafe fn load<T, const N: usize>(at: *const T, _len: usize) -> [T; N] { todo!() }",
    );
    let safe = described("pub fn load<T, const N: usize>(at: *const T, len: usize) -> [T; N] {}");
    let wide =
        described("pub unsafe fn load<T, const N: usize>(at: *const T, len: u64) -> [T; N] {}");
    assert_eq!(load, unused);
    assert_ne!(load, safe);
    assert_ne!(load, wide);
}

fn machine(name: &str) -> PathBuf {
    let own_folder = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let folder = own_folder.join("../crates/cuda_std/src/machine");
    folder.join(name)
}

fn parse(path: &Path) -> syn::File {
    let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    syn::parse_file(&source).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn offer(name: &str) -> Offer {
    let folder = machine(name);
    let exports = parse(&folder.join("mod.rs"));
    let mut offer = Offer::new();
    for item in &exports.items {
        let Item::Use(item) = item else { continue };
        let (true, UseTree::Path(file)) = (is_public(&item.vis), &item.tree) else {
            continue;
        };
        let items = items_by_name(&parse(&folder.join(format!("{}.rs", file.ident))));
        for name in names(&file.tree) {
            let what = items
                .get(&name)
                .unwrap_or_else(|| panic!("{name} is in no file"));
            offer.insert(format!("{}::{name}", file.ident), what.clone());
        }
    }
    offer
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// The names at the end of a `use`.
fn names(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Path(path) => names(&path.tree),
        UseTree::Group(group) => group.items.iter().flat_map(names).collect(),
        UseTree::Rename(_) | UseTree::Glob(_) => panic!("exports are named one by one"),
    }
}

/// The public items of a file.
fn items_by_name(file: &syn::File) -> BTreeMap<String, String> {
    let mut items = BTreeMap::new();
    for item in &file.items {
        match item {
            Item::Fn(function) => {
                drop(items.insert(function.sig.ident.to_string(), describe(item)))
            }
            Item::Trait(it) => drop(items.insert(it.ident.to_string(), describe(item))),
            Item::Enum(it) => drop(items.insert(it.ident.to_string(), describe(item))),
            Item::Type(it) => drop(items.insert(it.ident.to_string(), describe(item))),
            Item::Use(it) if is_public(&it.vis) => {
                items.extend(
                    names(&it.tree)
                        .into_iter()
                        .map(|name| (name, "a type".to_owned())),
                );
            }
            Item::Macro(it) if it.mac.path.is_ident(REGISTER_MACRO) => {
                let source = it.mac.tokens.to_string();
                let entries = source.split(';').filter_map(|entry| entry.split_once('='));
                items.extend(entries.map(|(name, _)| {
                    let function = format!("pub fn {name}() -> u32 {{}}");
                    let function = syn::parse_str(&function).expect("a name before `=`");
                    (name.trim().to_owned(), describe(&function))
                }));
            }
            _ => {}
        }
    }
    items
}

/// The properties of an item that must be equal. Enums may come from another crate on one side, so
/// their variants are left to the compiler, which checks them in code for both machines.
fn describe(item: &Item) -> String {
    match item {
        Item::Fn(function) => signature(&function.sig),
        Item::Trait(it) => {
            let methods = it.items.iter().map(|item| match item {
                TraitItem::Fn(method) => signature(&method.sig),
                other => other.to_token_stream().to_string(),
            });
            let supertraits = it.supertraits.to_token_stream();
            format!("{supertraits} {}", methods.collect::<Vec<_>>().join("; "))
        }
        Item::Type(it) => it.ty.to_token_stream().to_string(),
        _ => "a type".to_owned(),
    }
}

/// A signature without leading underscores of unused arguments.
fn signature(signature: &Signature) -> String {
    let mut signature = signature.clone();
    for argument in &mut signature.inputs {
        if let FnArg::Typed(argument) = argument
            && let Pat::Ident(name) = &mut *argument.pat
        {
            let used = name.ident.to_string();
            name.ident = syn::Ident::new(used.trim_start_matches('_'), name.ident.span());
            name.mutability = None;
        }
    }
    signature.to_token_stream().to_string()
}
