//! The option `--only` of programs.

/// For each of `names`, whether it contains one of the texts in `only`, which commas separate.
///
/// # Errors
/// The message for a text that no name contains: otherwise a misspelt text among others would go unnoticed.
pub fn chosen<N: AsRef<str>>(names: &[N], only: &str) -> Result<Vec<bool>, String> {
    let texts: Vec<&str> = only.split(',').map(str::trim).collect();
    let contains = |name: &N, text: &str| !text.is_empty() && name.as_ref().contains(text);
    for text in &texts {
        if !names.iter().any(|name| contains(name, text)) {
            let names: Vec<&str> = names.iter().map(N::as_ref).collect();
            let names = names.join(", ");
            return Err(format!(
                "--only {only}: no name contains `{text}`; there are {names}"
            ));
        }
    }
    let names = names.iter();
    let is_chosen = |name| texts.iter().any(|text| contains(name, text));
    Ok(names.map(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::chosen;

    const NAMES: [&str; 4] = [
        "sum f32 2^20",
        "sum f64 2^20",
        "scan f32 2^24",
        "dot f32 2^28",
    ];

    #[test]
    fn each_text_chooses_the_names_that_contain_it() {
        for (only, expected) in [
            ("sum", [true, true, false, false]),
            ("sum f32", [true, false, false, false]),
            ("f64,dot", [false, true, false, true]),
            ("f64, dot", [false, true, false, true]),
            ("2^", [true; 4]),
        ] {
            assert_eq!(chosen(&NAMES, only).unwrap(), expected, "{only}");
        }
    }

    #[test]
    fn a_text_that_chooses_nothing_is_an_error_that_names_it_and_the_choices() {
        for (only, culprit) in [
            ("nonsense", "`nonsense`"),
            ("sum f32,nonsense", "`nonsense`"),
            ("nonsense,sum f32", "`nonsense`"),
            ("sum,", "``"),
            ("", "``"),
        ] {
            let message = chosen(&NAMES, only).unwrap_err();
            assert!(message.contains(culprit), "{only}: {message}");
            assert!(message.contains("scan f32 2^24, dot f32 2^28"), "{message}");
        }
        assert!(chosen::<&str>(&[], "sum").is_err());
    }
}
