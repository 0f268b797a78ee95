//! The files of a crate, and their uses of one another.

use crate::tracked::tracked;
use crate::workspace::Result;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemMod, ItemUse, Lit, Macro, UseTree, Visibility};

/// A module's path from the crate's root.
type Module = Vec<String>;

/// The sources of one crate.
pub struct Sources {
    /// Modules with their own files.
    pub modules: BTreeMap<Module, String>,
    pub uses: Vec<Use>,
}

/// A file that uses another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub file: String,
    pub module: Module,
    pub line: usize,
    /// The resolved path, from the crate's root.
    pub path: String,
    /// The file that defines it, and its module.
    pub target: String,
    pub of: Module,
}

/// A path in a file, resolved to the crate's root.
struct Found {
    names: Module,
    line: usize,
    /// The exported name, if it is a `pub use`.
    exported: Option<String>,
}

impl Sources {
    /// Reads the sources below `folder`.
    pub fn read(root: &Path, folder: &str) -> Result<Self> {
        let files = tracked(root, &[&format!("{folder}/*.rs")])?;
        let mut texts = BTreeMap::new();
        for file in files.into_iter().filter(|it| root.join(it).exists()) {
            let Some(module) = module_of(&file[folder.len() + 1..]) else {
                continue;
            };
            let text = fs::read_to_string(root.join(&file))?;
            texts.insert(module, (file, text));
        }
        Self::of(texts)
    }

    /// Builds the sources from modules' files and texts.
    pub fn of(texts: BTreeMap<Module, (String, String)>) -> Result<Self> {
        let modules: BTreeSet<Module> = texts.keys().cloned().collect();
        let mut found = BTreeMap::new();
        let mut tests = BTreeSet::new();
        let mut elsewhere = BTreeSet::new();
        for (module, (file, text)) in &texts {
            let parsed = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
            let mut reader = Reader {
                modules: &modules,
                inline: module.clone(),
                found: Vec::new(),
                bare: HashMap::new(),
                tests: Vec::new(),
                elsewhere: Vec::new(),
            };
            reader.visit_file(&parsed);
            elsewhere.extend(reader.elsewhere);
            tests.extend(reader.tests);
            found.insert(module, (reader.found, reader.bare));
        }
        let is_test = |module: &Module| (0..=module.len()).any(|n| tests.contains(&module[..n]));
        let mut exports = HashMap::new();
        for (module, (paths, _)) in &found {
            for it in paths {
                if let Some(name) = &it.exported {
                    exports.insert(((*module).clone(), name.clone()), it.names.clone());
                }
            }
        }
        let mut uses = Vec::new();
        for (module, (paths, bare)) in &found {
            if is_test(module) {
                continue;
            }
            for it in paths {
                if (0..=it.names.len()).any(|n| elsewhere.contains(&it.names[..n])) {
                    continue;
                }
                let of = defining(&it.names, &modules, &exports);
                if of == **module || is_test(&of) {
                    continue;
                }
                // A re-export of a child counts as a use only if the file's own code names it.
                let own_export = it.exported.as_ref().filter(|_| of.starts_with(module));
                let line = match own_export.map(|name| bare.get(name)) {
                    None => it.line,
                    Some(Some(&line)) => line,
                    Some(None) => continue,
                };
                // A folder of programs has no root.
                let Some((target, _)) = texts.get(&of) else {
                    continue;
                };
                uses.push(Use {
                    file: texts[*module].0.clone(),
                    module: (*module).clone(),
                    line,
                    path: it.names.join("::"),
                    target: target.clone(),
                    of,
                });
            }
        }
        let modules = texts.into_iter().map(|(module, (file, _))| (module, file));
        Ok(Self {
            modules: modules.filter(|(module, _)| !is_test(module)).collect(),
            uses,
        })
    }

    /// The modules of the crate's root.
    pub fn top_modules(&self) -> BTreeSet<String> {
        let names = self.modules.keys().filter_map(|it| it.first());
        names.cloned().collect()
    }
}

/// The module of a crate's file; `None` if it is not part of the crate.
fn module_of(file: &str) -> Option<Module> {
    let mut names: Module = file
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    let is_apart = ["tests", "benches", "examples", "program", "bin"];
    if file == "build.rs" || (names.len() > 1 && is_apart.contains(&names[0].as_str())) {
        return None;
    }
    let is_root = names.len() == 1 && ["lib", "main"].contains(&names[0].as_str());
    if is_root || names.last().is_some_and(|it| it == "mod") {
        names.pop();
    }
    Some(names)
}

/// The deepest module with a file along a path, after re-exports.
fn defining(
    path: &[String],
    modules: &BTreeSet<Module>,
    exports: &HashMap<(Module, String), Module>,
) -> Module {
    let mut path = path.to_vec();
    // Chains of re-exports end, unless they are circular.
    for _ in 0..8 {
        let len = (0..=path.len())
            .rev()
            .find(|&len| modules.contains(&path[..len]));
        let module = path[..len.unwrap_or(0)].to_vec();
        let Some(name) = path.get(module.len()) else {
            return module;
        };
        match exports.get(&(module.clone(), name.clone())) {
            Some(target) if *target != path[..=module.len()] => {
                let rest = path.split_off(module.len() + 1);
                path = [target.clone(), rest].concat();
            }
            _ => return module,
        }
    }
    path.truncate(0);
    path
}

/// Reads one file.
struct Reader<'a> {
    modules: &'a BTreeSet<Module>,
    /// The current module: the file's, or one within it.
    inline: Module,
    found: Vec<Found>,
    /// The first names of paths outside `use` items, and the line of each first occurrence.
    bare: HashMap<String, usize>,
    /// Modules that are compiled only for tests.
    tests: Vec<Module>,
    /// Modules whose files are outside the folder.
    elsewhere: Vec<Module>,
}

impl Reader<'_> {
    /// The path from the crate's root; `None` for paths to other crates and local ones.
    fn resolved(&self, names: &[String]) -> Option<Module> {
        let mut base = self.inline.clone();
        let mut rest = names;
        match names.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &names[1..];
            }
            "self" => rest = &names[1..],
            "super" => {
                while rest.first().is_some_and(|it| it == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let child = [&base[..], &[first.to_owned()]].concat();
                if !self.modules.contains(&child) {
                    return None;
                }
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    fn add(&mut self, names: &[String], line: usize, exported: Option<String>) {
        if let Some(names) = self.resolved(names) {
            self.found.push(Found {
                names,
                line,
                exported,
            });
        }
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree, is_export: bool) {
        let (ident, name) = match tree {
            UseTree::Path(path) => {
                let names = [before, &[path.ident.to_string()]].concat();
                return self.add_tree(&names, &path.tree, is_export);
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.add_tree(before, tree, is_export));
            }
            UseTree::Glob(glob) => return self.add(before, glob.span().start().line, None),
            UseTree::Name(name) => (&name.ident, &name.ident),
            UseTree::Rename(rename) => (&rename.ident, &rename.rename),
        };
        let line = ident.span().start().line;
        let names = match ident == "self" {
            true => before.to_vec(),
            false => [before, &[ident.to_string()]].concat(),
        };
        self.add(&names, line, is_export.then(|| name.to_string()));
    }

    /// The paths in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.add_tokens(group.stream());
            }
            let (names, line) = path_at(&tokens[at..]);
            let is_member = at > 0 && is_dot(&tokens[at - 1]);
            if let Some(first) = names.first().filter(|_| !is_member) {
                self.bare.entry(first.clone()).or_insert(line);
            }
            let starts = ["crate", "super", "self"];
            if names.len() > 1 && starts.contains(&names[0].as_str()) {
                self.add(&names, line, None);
            }
            at += (3 * names.len()).saturating_sub(2).max(1);
        }
    }
}

fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == '.')
}

/// The path at the start of the tokens, and its line.
fn path_at(tokens: &[TokenTree]) -> (Module, usize) {
    let mut names = Vec::new();
    let line = tokens[0].span().start().line;
    let mut rest = tokens;
    while let [TokenTree::Ident(name), after @ ..] = rest {
        names.push(name.to_string());
        match after {
            [TokenTree::Punct(first), TokenTree::Punct(second), more @ ..]
                if first.as_char() == ':' && second.as_char() == ':' =>
            {
                rest = more;
            }
            _ => break,
        }
    }
    (names, line)
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |it: &Attribute| {
        let list = it.meta.require_list();
        it.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    };
    attributes.iter().any(is_test)
}

/// Whether a module's attributes give it a file outside the folder.
fn is_elsewhere(attributes: &[Attribute]) -> bool {
    let is_outside = |value: &Expr| matches!(value, Expr::Lit(it) if matches!(&it.lit, Lit::Str(path) if path.value().starts_with("../")));
    attributes.iter().any(|it| {
        let value = it.meta.require_name_value();
        it.path().is_ident("path") && value.is_ok_and(|it| is_outside(&it.value))
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let module = [&self.inline[..], &[item.ident.to_string()]].concat();
        if is_for_tests(&item.attrs) {
            self.tests.push(module);
            return;
        }
        if is_elsewhere(&item.attrs) {
            self.elsewhere.push(module);
            return;
        }
        let outer = std::mem::replace(&mut self.inline, module);
        visit::visit_item_mod(self, item);
        self.inline = outer;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_export = !matches!(item.vis, Visibility::Inherited);
        self.add_tree(&[], &item.tree, is_export);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Module = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        let line = path.span().start().line;
        if path.leading_colon.is_none() {
            self.bare.entry(names[0].clone()).or_insert(line);
            if names.len() > 1 {
                self.add(&names, line, None);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.add_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}
