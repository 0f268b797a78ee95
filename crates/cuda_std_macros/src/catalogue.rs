//! `catalogue!`: a table whose rows are all combinations of some alternatives, named by them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeMap;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Result, Token, braced};

/// Which rows to expand, and the table.
struct Catalogue {
    /// The macro that is called with the rows.
    with: Ident,
    rows: Rows,
    axes: BTreeMap<String, Axis>,
    families: Vec<Family>,
}

/// Which rows of the table to expand.
enum Rows {
    /// `of family, ..`: those of the families of these names.
    Of(Vec<Ident>),
    /// `by axis`: those of all families, for each alternative of an axis.
    By(Ident),
}

/// `name: head x axis x axis;`
struct Family {
    name: Ident,
    head: Ident,
    axes: Vec<Axis>,
}

/// Alternatives; each row has one.
#[derive(Clone)]
struct Axis {
    /// The name of the axis that these alternatives are taken from, if it has one.
    name: Option<String>,
    alternatives: Vec<Alternative>,
}

/// `part: meaning`, or `part` alone, which means itself.
#[derive(Clone)]
struct Alternative {
    /// A part of the rows' names; `_` adds none.
    part: String,
    meaning: TokenStream,
}

impl Parse for Catalogue {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let with = input.parse()?;
        let word: Ident = input.parse()?;
        let names = Punctuated::<Ident, Token![,]>::parse_separated_nonempty(input)?;
        let rows = match (word.to_string().as_str(), names.len()) {
            ("of", _) => Rows::Of(names.into_iter().collect()),
            ("by", 1) => Rows::By(names[0].clone()),
            _ => {
                return Err(Error::new(
                    word.span(),
                    "expected `of` families or `by` an axis",
                ));
            }
        };
        input.parse::<Token![;]>()?;
        let mut catalogue = Self {
            with,
            rows,
            axes: BTreeMap::new(),
            families: Vec::new(),
        };
        while !input.is_empty() {
            if input.parse::<Option<Token![let]>>()?.is_some() {
                let name = input.parse::<Ident>()?.to_string();
                input.parse::<Token![=]>()?;
                let axis = catalogue.axis(input)?;
                let named = Axis {
                    name: axis.name.or_else(|| Some(name.clone())),
                    ..axis
                };
                catalogue.axes.insert(name, named);
            } else {
                let family = catalogue.family(input)?;
                catalogue.families.push(family);
            }
            input.parse::<Token![;]>()?;
        }
        Ok(catalogue)
    }
}

impl Catalogue {
    fn family(&self, input: ParseStream<'_>) -> Result<Family> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let head = input.parse()?;
        let mut axes = Vec::new();
        while !input.peek(Token![;]) {
            let times: Ident = input.parse()?;
            if times != "x" {
                return Err(Error::new(times.span(), "expected `x` and an axis"));
            }
            axes.push(self.axis(input)?);
        }
        Ok(Family { name, head, axes })
    }

    /// `{part: meaning, ..}`, `axis`, or some alternatives of an axis: `axis{part, ..}`.
    fn axis(&self, input: ParseStream<'_>) -> Result<Axis> {
        if input.peek(syn::token::Brace) {
            let content;
            braced!(content in input);
            let alternatives = Punctuated::<_, Token![,]>::parse_terminated(&content)?;
            return Ok(Axis {
                name: None,
                alternatives: alternatives.into_iter().collect(),
            });
        }
        let name: Ident = input.parse()?;
        let axis = self.named(&name)?;
        if !input.peek(syn::token::Brace) {
            return Ok(axis.clone());
        }
        let content;
        braced!(content in input);
        let parts = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
        let alternatives = parts
            .iter()
            .map(|part| axis.alternative(part))
            .collect::<Result<_>>()?;
        Ok(Axis {
            name: axis.name.clone(),
            alternatives,
        })
    }

    fn named(&self, name: &Ident) -> Result<&Axis> {
        let axis = self.axes.get(&name.to_string());
        axis.ok_or_else(|| Error::new(name.span(), format!("no axis `{name}` before this")))
    }

    fn expand(&self) -> Result<TokenStream> {
        let with = &self.with;
        let rows = match &self.rows {
            Rows::Of(names) => {
                let mut rows = Vec::new();
                for name in names {
                    rows.extend(self.rows_of(name)?);
                }
                rows.into_iter().collect()
            }
            Rows::By(name) => {
                let axis = self.named(name)?;
                if let Some(family) = self.families.iter().find(|it| !it.has(axis)) {
                    let message = format!("a family without an axis of `{name}`");
                    return Err(Error::new(family.name.span(), message));
                }
                axis.alternatives
                    .iter()
                    .map(|chosen| self.group(axis, chosen))
                    .collect::<TokenStream>()
            }
        };
        Ok(quote! { #with! { #rows } })
    }

    /// The rows of the families of a name.
    fn rows_of(&self, name: &Ident) -> Result<Vec<TokenStream>> {
        let families = self.families.iter().filter(|it| it.name == *name);
        let rows: Vec<_> = families.flat_map(|it| it.rows(None)).collect();
        match rows.is_empty() {
            true => Err(Error::new(name.span(), format!("no family `{name}`"))),
            false => Ok(rows),
        }
    }

    /// The rows of all families that have this alternative.
    fn group(&self, axis: &Axis, chosen: &Alternative) -> TokenStream {
        let of_group = (axis, chosen);
        let rows = self.families.iter().flat_map(|it| it.rows(Some(of_group)));
        let (meaning, rows) = (&chosen.meaning, rows.collect::<TokenStream>());
        quote! { { #meaning } { #rows } }
    }
}

impl Axis {
    fn is(&self, other: &Self) -> bool {
        self.name.is_some() && self.name == other.name
    }

    fn alternative(&self, part: &Ident) -> Result<Alternative> {
        let found = self.alternatives.iter().find(|it| *part == it.part);
        let error = || Error::new(part.span(), format!("the axis has no `{part}`"));
        found.cloned().ok_or_else(error)
    }
}

impl Family {
    fn has(&self, axis: &Axis) -> bool {
        self.axes.iter().any(|it| it.is(axis))
    }

    /// The family, the name of the row, and what its alternatives mean: `family name {meaning} {meaning};`. Of a
    /// group they are the rows with its alternative, whose meaning they leave out.
    fn rows(&self, group: Option<(&Axis, &Alternative)>) -> Vec<TokenStream> {
        let mut rows = vec![(self.head.to_string(), TokenStream::new())];
        for axis in &self.axes {
            let chosen = group
                .filter(|(of_group, _)| axis.is(of_group))
                .map(|(_, chosen)| chosen);
            let is_in_row = |it: &&Alternative| chosen.is_none_or(|chosen| it.part == chosen.part);
            let alternatives: Vec<_> = axis.alternatives.iter().filter(is_in_row).collect();
            let longer = |(name, meanings): &(String, TokenStream)| {
                let each = alternatives.iter().map(|Alternative { part, meaning }| {
                    let name = match part.as_str() {
                        "_" => name.clone(),
                        part => format!("{name}_{part}"),
                    };
                    let meaning = chosen.is_none().then(|| quote! { { #meaning } });
                    (name, quote! { #meanings #meaning })
                });
                each.collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        let family = &self.name;
        let row = |(name, meanings): (String, TokenStream)| {
            let name = Ident::new(&name, Span::call_site());
            quote! { #family #name #meanings; }
        };
        rows.into_iter().map(row).collect()
    }
}

impl Parse for Alternative {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (part, itself) = match input.parse::<Option<Token![_]>>()? {
            Some(none) => ("_".to_owned(), none.to_token_stream()),
            None => {
                let part: Ident = input.parse()?;
                (part.to_string(), part.to_token_stream())
            }
        };
        let meaning = match input.parse::<Option<Token![:]>>()? {
            Some(_) => input.step(|cursor| {
                let (mut rest, mut meaning) = (*cursor, TokenStream::new());
                while let Some((tree, next)) = rest.token_tree() {
                    if matches!(&tree, proc_macro2::TokenTree::Punct(it) if it.as_char() == ',') {
                        break;
                    }
                    meaning.extend([tree]);
                    rest = next;
                }
                Ok((meaning, rest))
            })?,
            None => itself,
        };
        Ok(Self { part, meaning })
    }
}

/// Calls the named macro with the requested rows.
pub fn expand(tokens: TokenStream) -> Result<TokenStream> {
    syn::parse2::<Catalogue>(tokens)?.expand()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "
        let types = {f16: f16 to f16, f16_f32: f16 to f32, f32: f32 to f32};
        let halves = types{f16, f16_f32};
        plain: product x {_: Plain(Size::Large), small: Plain(Size::Small)} x halves x {nn, tt};
        split: split x types{f32};
        plain: product_deep x {_: Deep} x types{f32} x {nn};";

    fn rows_of(asked: &str) -> String {
        let rows = expand(format!("{asked}; {TABLE}").parse().unwrap());
        rows.map_or_else(
            |error| error.to_string(),
            |it| it.to_string().replace(' ', ""),
        )
    }

    #[test]
    fn a_row_is_a_combination_of_alternatives_under_its_name() {
        assert_eq!(rows_of("with of split"), "with!{splitsplit_f32{f32tof32};}");
        let rows = rows_of("with of plain, split");
        assert_eq!(rows.matches(';').count(), 2 * 2 * 2 + 1 + 1);
        for row in [
            "plainproduct_f16_nn{Plain(Size::Large)}{f16tof16}{nn};",
            "plainproduct_small_f16_f32_tt{Plain(Size::Small)}{f16tof32}{tt};",
            "plainproduct_deep_f32_nn{Deep}{f32tof32}{nn};",
        ] {
            assert!(rows.contains(row), "{row} in {rows}");
        }
    }

    #[test]
    fn a_group_has_the_rows_of_all_families_with_its_alternative() {
        let rows = rows_of("with by types");
        let groups = [
            "{f16tof16}{plainproduct_f16_nn{Plain(Size::Large)}{nn};",
            "{f16tof32}{plainproduct_f16_f32_nn",
            "{f32tof32}{splitsplit_f32;plainproduct_deep_f32_nn{Deep}{nn};}",
        ];
        let starts = groups.map(|group| rows.find(group).unwrap_or_else(|| panic!("{rows}")));
        assert!(starts.is_sorted());
    }

    #[test]
    fn names_that_are_not_there_are_errors() {
        assert_eq!(rows_of("with of mma"), "no family `mma`");
        assert_eq!(rows_of("with by sizes"), "no axis `sizes` before this");
        assert_eq!(
            rows_of("with at types"),
            "expected `of` families or `by` an axis"
        );
        let unknown = "with of a; let b = {c}; a: a x b{d};".parse().unwrap();
        assert_eq!(
            expand(unknown).unwrap_err().to_string(),
            "the axis has no `d`"
        );
    }
}
