//! The HTML that the Bot API takes with `parse_mode`, judged as strictly as its
//! server does and refused in its words.

/// Tags without which a text has no style.
const TAGS: [&str; 16] = [
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "span",
    "tg-spoiler",
    "a",
    "code",
    "pre",
    "blockquote",
    "tg-emoji",
];

/// What is read of `html`, or why it is refused.
pub fn parse(html: &str) -> Result<String, String> {
    let mut parser = Parser {
        html,
        at: 0,
        text: String::new(),
        open: Vec::new(),
    };
    while parser.at < html.len() {
        parser.step()?;
    }
    match parser.open.last() {
        Some((tag, _)) => Err(format!(
            "can't parse entities: Can't find end tag corresponding to start tag \"{tag}\""
        )),
        None => Ok(parser.text),
    }
}

struct Parser<'a> {
    html: &'a str,
    at: usize,
    text: String,
    open: Vec<(String, usize)>,
}

impl Parser<'_> {
    fn step(&mut self) -> Result<(), String> {
        let rest = &self.html[self.at..];
        if rest.starts_with("</") {
            return self.end();
        }
        if rest.starts_with('<') {
            return self.begin();
        }
        if rest.starts_with('&')
            && let Some((character, length)) = reference(rest)
        {
            self.text.push(character);
            self.at += length;
            return Ok(());
        }
        let character = rest.chars().next().unwrap_or_default();
        self.text.push(character);
        self.at += character.len_utf8();
        Ok(())
    }

    fn begin(&mut self) -> Result<(), String> {
        let begin = self.at;
        let rest = &self.html[begin + 1..];
        let failed = |words: &str| {
            Err(format!(
                "can't parse entities: {words} at byte offset {begin}"
            ))
        };
        let length = rest
            .find(|it: char| it.is_whitespace() || it == '>')
            .unwrap_or(rest.len());
        let name = rest[..length].to_lowercase();
        if length == rest.len() {
            return failed("Unclosed start tag");
        }
        if !TAGS.contains(&name.as_str()) {
            return failed(&format!("Unsupported start tag \"{name}\""));
        }
        let Some(attributes) = attributes(&rest[length..]) else {
            return failed("Unexpected end of name token");
        };
        if name == "span" && attributes.1 != "class=tg-spoiler" {
            return failed("Tag \"span\" must have class \"tg-spoiler\"");
        }
        let is_in_code = self
            .open
            .iter()
            .any(|(tag, _)| tag == "code" || tag == "pre");
        let is_language = name == "code" && self.open.last().is_some_and(|(tag, _)| tag == "pre");
        // The server leaves such styles out; nothing here should count on that.
        if is_in_code && !is_language {
            return failed(&format!("Tag \"{name}\" stands in code"));
        }
        if name == "blockquote" && self.open.iter().any(|(tag, _)| tag == "blockquote") {
            return failed("Nested blockquote");
        }
        self.at = begin + 1 + length + attributes.0;
        self.open.push((name, begin));
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let begin = self.at;
        let rest = &self.html[begin + 2..];
        let Some(length) = rest.find('>') else {
            return Err(format!(
                "can't parse entities: Unclosed end tag at byte offset {begin}"
            ));
        };
        let name = rest[..length].trim().to_lowercase();
        let Some((open, _)) = self.open.pop() else {
            return Err(format!(
                "can't parse entities: Unexpected end tag at byte offset {begin}"
            ));
        };
        if !name.is_empty() && name != open {
            return Err(format!(
                "can't parse entities: Unmatched end tag at byte offset {begin}, expected \
                 \"</{open}>\", found \"</{name}>\""
            ));
        }
        self.at = begin + 2 + length + 1;
        Ok(())
    }
}

/// The bytes up to and with `>`, and the last attribute as `name=value`.
fn attributes(text: &str) -> Option<(usize, String)> {
    let mut last = String::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with('>') {
            return Some((text.len() - rest.len() + 1, last));
        }
        let length = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '-')?;
        if length == 0 {
            return None;
        }
        let name = &rest[..length];
        rest = &rest[length..];
        let Some(value) = rest.strip_prefix('=') else {
            last = name.to_owned();
            continue;
        };
        let quoted = value.strip_prefix('"')?;
        let end = quoted.find('"')?;
        last = format!("{name}={}", &quoted[..end]);
        rest = &quoted[end + 1..];
    }
}

/// The character that `&name;` or `&#number;` stands for, with the length of that.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.find(';').filter(|end| *end <= 10)?;
    let name = &text[1..end];
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((character, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_refused_in_telegrams_words() {
        for (html, words) in [
            (
                "<b>a",
                "Can't find end tag corresponding to start tag \"b\"",
            ),
            ("a</b>", "Unexpected end tag at byte offset 1"),
            (
                "<b><i>a</b></i>",
                "Unmatched end tag at byte offset 7, expected \"</i>\"",
            ),
            ("<p>a</p>", "Unsupported start tag \"p\" at byte offset 0"),
            ("1 <", "Unclosed start tag at byte offset 2"),
            ("<a href=x>a</a>", "at byte offset 0"),
            ("<code><b>x</b></code>", "stands in code"),
        ] {
            let error = parse(html).unwrap_err();
            assert!(error.contains(words), "{html}: {error}");
        }
    }

    #[test]
    fn entities_are_read() {
        let html =
            "<pre><code class=\"language-rust\">a &lt; b</code></pre> <a href=\"x\">&#65;</a> &no;";
        assert_eq!(parse(html).unwrap(), "a < b A &no;");
    }
}
