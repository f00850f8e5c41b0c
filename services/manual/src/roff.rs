//! Text of man pages (man(7)).

/// `text` as roff prints it, word for word.
pub(crate) fn escaped(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = line
            .replace('\\', "\\e")
            .replace('-', "\\-")
            .replace('\'', "\\(aq")
            .replace('`', "\\(ga")
            .replace('^', "\\(ha")
            .replace('~', "\\(ti")
            .replace('…', "...");
        // Where it begins a line it would be a request.
        let is_request = line.starts_with('.');
        let line = if is_request {
            format!("\\&{line}")
        } else {
            line
        };
        lines.push(line);
    }
    lines.join("\n")
}

/// The first line of a page of that `date`.
pub(crate) fn title(name: &str, section: &str, date: &str) -> String {
    let name = escaped(name);
    format!(
        ".TH \"{name}\" \"{section}\" \"{date}\" \"OpenClaw {}\" \"OpenClaw\"\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// A section's heading.
pub(crate) fn section(name: &str) -> String {
    format!(".SH {name}\n")
}

/// A term with what is said of it.
pub(crate) fn term(term: &str, text: &str) -> String {
    format!(".TP\n.B {}\n{}\n", escaped(term), escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_request() {
        assert_eq!(escaped(".a\n'b-c\\d"), "\\&.a\n\\(aqb\\-c\\ed");
    }
}
