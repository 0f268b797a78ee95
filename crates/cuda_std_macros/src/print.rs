//! Expands `gpu_println!`.

use crate::compiler::device_library;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::iter;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, Expr, Ident, LitStr, Result, Token};

/// The macro's arguments.
struct Line {
    text: LitStr,
    positional: Vec<Expr>,
    named: Vec<(Ident, Expr)>,
}

impl Parse for Line {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut line = Self {
            text: input.parse()?,
            positional: Vec::new(),
            named: Vec::new(),
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                // `type = 4`, too, as for `println!`.
                let name = input.call(Ident::parse_any)?;
                input.parse::<Token![=]>()?;
                line.named.push((name, input.parse()?));
            } else {
                line.positional.push(input.parse()?);
            }
        }
        Ok(line)
    }
}

impl Line {
    /// The bindings of the values after the text, and their expressions.
    fn bound(&self) -> impl Iterator<Item = (Ident, &Expr)> {
        let named = self.named.iter().map(|(_, value)| value);
        let all = self.positional.iter().chain(named);
        all.enumerate()
            .map(|(index, value)| (binding(index), value))
    }

    /// The bindings as arguments of `format_args!`.
    fn arguments(&self) -> impl Iterator<Item = TokenStream> {
        let unnamed = iter::repeat_n(None, self.positional.len());
        let names = unnamed.chain(self.named.iter().map(|(name, _)| Some(name)));
        names.enumerate().map(|(index, name)| {
            let binding = binding(index);
            match name {
                Some(name) => quote!(#name = #binding),
                None => quote!(#binding),
            }
        })
    }

    fn positional_binding(&self, place: usize) -> Option<TokenStream> {
        let binding = (place < self.positional.len()).then(|| binding(place))?;
        Some(quote!(#binding))
    }

    fn named_binding(&self, name: &str) -> Option<TokenStream> {
        let place = self.named.iter().position(|(it, _)| it == name)?;
        let binding = binding(self.positional.len() + place);
        Some(quote!(#binding))
    }
}

fn binding(index: usize) -> Ident {
    format_ident!("value_{index}", span = Span::mixed_site())
}

/// The macro's expansion. On the host the compiler also checks the text as for `println!`.
pub fn expand(tokens: TokenStream) -> Result<TokenStream> {
    let cuda_std = device_library();
    let line: Line = syn::parse2(tokens)?;
    let (text, values) = text_and_values(&line)?;
    // Each is evaluated once, even if several braces refer to it.
    let (names, expressions): (Vec<_>, Vec<_>) = line.bound().unzip();
    let (source, arguments) = (&line.text, line.arguments());
    Ok(quote! {
        match (#(&(#expressions),)*) {
            (#(#names,)*) => {
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    let _ = || { let _ = ::core::format_args!(#source, #(#arguments),*); };
                }
                #cuda_std::output::print(
                    const { #cuda_std::output::Text::new(#text) },
                    [#(#cuda_std::output::Value::of(#values)),*],
                )
            }
        }
    })
}

/// The text with empty names in its braces, and the values in order.
fn text_and_values(line: &Line) -> Result<(String, Vec<TokenStream>)> {
    let source = line.text.value();
    let (mut text, mut values, mut next) = (String::new(), Vec::new(), 0);
    let mut rest = source.as_str();
    while let Some(brace) = rest.find(['{', '}']) {
        let marked = &rest[brace..];
        if marked.starts_with("{{") || marked.starts_with("}}") {
            text.push_str(&rest[..brace + 2]);
            rest = &marked[2..];
            continue;
        }
        let Some(end) = marked.find('}').filter(|end| *end > 0) else {
            return Err(at(
                line,
                "unmatched brace: write `{{` or `}}` for a literal brace",
            ));
        };
        let inside = &marked[1..end];
        let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
        check_spec(line, spec)?;
        values.push(value(line, name.trim(), &mut next)?);
        text.push_str(&rest[..brace]);
        text += &match spec.trim_end() {
            "" => "{}".to_owned(),
            spec => format!("{{:{spec}}}"),
        };
        rest = &marked[end + 1..];
    }
    text.push_str(rest);
    Ok((text, values))
}

/// Rejects format specifications of the standard library that a record of numbers cannot express.
fn check_spec(line: &Line, spec: &str) -> Result<()> {
    // Any character before an alignment fills.
    let mut characters = spec.chars();
    let spec = match (characters.next(), characters.next()) {
        (Some(_), Some('<' | '^' | '>')) => &spec[spec.len() - characters.as_str().len() - 1..],
        _ => spec,
    };
    if spec.contains(['$', '*']) {
        return Err(at(
            line,
            "width and precision must be numbers in the text of `gpu_println!`",
        ));
    }
    if spec.ends_with("x?") || spec.ends_with("X?") || spec.ends_with('p') {
        let message = "`gpu_println!` supports the forms `{}`, `{:?}`, `{:x}`, `{:X}`, `{:b}`, `{:o}`, \
                       `{:e}` and `{:E}`";
        return Err(at(line, message));
    }
    Ok(())
}

/// The value of braces that contain this name, number or nothing.
fn value(line: &Line, name: &str, next: &mut usize) -> Result<TokenStream> {
    let place = match name {
        "" => {
            *next += 1;
            Some(*next - 1)
        }
        _ => name.parse().ok(),
    };
    if let Some(place) = place {
        let missing = || at(line, &format!("there is no value {place}, counted from 0"));
        let value = line.positional_binding(place).ok_or_else(missing)?;
        return Ok(value);
    }
    if let Some(value) = line.named_binding(name) {
        return Ok(value);
    }
    let neither = |_| at(line, &format!("`{name}` is neither a name nor a number"));
    let mut captured = Ident::parse_any.parse_str(name).map_err(neither)?;
    // As in `println!`, `{type}` captures `r#type`, and names are those where the text is written.
    let is_path = ["self", "Self", "super", "crate", "_"].contains(&name);
    if !is_path && syn::parse_str::<Ident>(name).is_err() {
        captured = Ident::new_raw(name, Span::call_site());
    }
    captured.set_span(line.text.span());
    Ok(quote!(&#captured))
}

fn at(line: &Line, message: &str) -> Error {
    Error::new(line.text.span(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(source: &str) -> Result<(String, String)> {
        let line: Line = syn::parse_str(source)?;
        let (text, values) = text_and_values(&line)?;
        Ok((text, quote!(#(#values),*).to_string()))
    }

    #[test]
    fn each_brace_has_a_value() {
        let (text, values) =
            expanded("\"{{{}}} {x:>8.3} {0:#x} {y:?} {}\", a, b + 1, y = c").unwrap();
        assert_eq!(text, "{{{}}} {:>8.3} {:#x} {:?} {}");
        assert_eq!(values, "value_0 , & x , value_0 , value_2 , value_1");
        assert_eq!(expanded("\"no values\",").unwrap().0, "no values");
        let (text, values) = expanded("\"{type}\", type = a").unwrap();
        assert_eq!((text.as_str(), values.as_str()), ("{}", "value_0"));
        let (_, values) = expanded("\"{type} {self} {x}\"").unwrap();
        assert_eq!(values, "& r#type , & self , & x");
        for path in ["r#type", "Self", "crate", "super"] {
            let (_, values) = expanded(&format!("\"{{{path}}}\"")).unwrap();
            assert_eq!(values, format!("& {path}"));
        }
        let (text, _) = expanded("\"{:*>8} {:$^9x} {:é<4}\", a, b, c").unwrap();
        assert_eq!(text, "{:*>8} {:$^9x} {:é<4}");
    }

    #[test]
    fn values_are_evaluated_as_they_are_written() {
        let line: Line = syn::parse_str("\"{b} {a} {}\", first, b = second, a = third").unwrap();
        let values: Vec<_> = line
            .bound()
            .map(|(_, value)| quote!(#value).to_string())
            .collect();
        assert_eq!(values, ["first", "second", "third"]);
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (source, part) in [
            ("\"{\"", "unmatched brace"),
            ("\"}\"", "unmatched brace"),
            ("\"{}\"", "no value 0"),
            ("\"{:1$}\", a, b", "numbers in the text"),
            ("\"{:.*}\", a, b", "numbers in the text"),
            ("\"{:*>1$}\", a, b", "numbers in the text"),
            ("\"{:x?}\", a", "supports the forms"),
            ("\"{a b}\"", "neither a name"),
            ("a", "expected string literal"),
        ] {
            let error = expanded(source).unwrap_err().to_string();
            assert!(error.contains(part), "{source}: {error}");
        }
    }
}
