//! A file and lines of it: `memory/2026-03-04.md:3-5`.

use std::str::FromStr;

/// A file and lines of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// As a search names it.
    pub(super) path: String,
    /// The first and the last line, counted from 1.
    pub(super) lines: Option<(u32, u32)>,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = || Self {
            path: text.to_owned(),
            lines: None,
        };
        let place = match text.rsplit_once(':') {
            Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => Self {
                path: path.to_owned(),
                lines: Some(range(lines)?),
            },
            _ => whole(),
        };
        if place.path.is_empty() {
            Err("name a file, such as memory/2026-03-04.md:3-5".to_owned())
        } else {
            Ok(place)
        }
    }
}

fn range(text: &str) -> Result<(u32, u32), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err(format!(
            "{text:?} are no lines; give them as 3 or 3-5, counted from 1"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_follow_a_colon() {
        let place = |text: &str| text.parse::<Place>();
        let of = |path: &str, lines| {
            Ok(Place {
                path: path.to_owned(),
                lines,
            })
        };
        assert_eq!(place("MEMORY.md"), of("MEMORY.md", None));
        assert_eq!(place("memory/a.md:3"), of("memory/a.md", Some((3, 3))));
        assert_eq!(
            place("memory/a:b.md:3-15"),
            of("memory/a:b.md", Some((3, 15)))
        );
        assert_eq!(place("memory/a:b.md"), of("memory/a:b.md", None));
        for wrong in ["a.md:0", "a.md:5-3", "a.md:3-x", ":3", ""] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
