//! Text with styles in Telegram's HTML.

use openclaw_channel::rich::{Rich, Style};

/// What `rich` says in the HTML that the Bot API takes with `parse_mode`. Every
/// tag is closed, and none stands in code.
pub(crate) fn html(rich: &Rich) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    for run in rich.runs() {
        if run.style.is_quoted != is_quoted {
            is_quoted = run.style.is_quoted;
            text.push_str(if is_quoted {
                "<blockquote>"
            } else {
                "</blockquote>"
            });
        }
        let (before, after) = tags(&run.style);
        text.push_str(&before);
        escape(&run.text, &mut text);
        text.push_str(&after);
    }
    if is_quoted {
        text.push_str("</blockquote>");
    }
    text
}

/// The entities that Telegram makes of the HTML of `rich`.
pub(crate) fn entities(rich: &Rich) -> usize {
    let mut count = 0;
    let mut is_quoted = false;
    for run in rich.runs() {
        let (before, _) = tags(&run.style);
        // The tag of a block's language is not an entity of its own.
        count += match run.style.block {
            Some(_) => 1,
            None => before.matches('<').count(),
        };
        count += usize::from(run.style.is_quoted && !is_quoted);
        is_quoted = run.style.is_quoted;
    }
    count
}

fn tags(style: &Style) -> (String, String) {
    if let Some(language) = &style.block {
        if !is_name(language) {
            return ("<pre>".into(), "</pre>".into());
        }
        let begin = format!("<pre><code class=\"language-{language}\">");
        return (begin, "</code></pre>".into());
    }
    // What stands in code has no other style, and a link is worth more than that
    // it is code.
    if style.is_code && style.link.is_none() {
        return ("<code>".into(), "</code>".into());
    }
    let (mut before, mut after) = (String::new(), String::new());
    if let Some(target) = &style.link {
        before.push_str("<a href=\"");
        escape(target, &mut before);
        before.push_str("\">");
        after.push_str("</a>");
    }
    let simple = [
        (style.is_bold, "b"),
        (style.is_italic, "i"),
        (style.is_struck, "s"),
    ];
    for (_, tag) in simple.iter().filter(|(is_on, _)| *is_on) {
        before.push_str(&format!("<{tag}>"));
        after.insert_str(0, &format!("</{tag}>"));
    }
    (before, after)
}

/// Whether it can be in a class.
fn is_name(language: &str) -> bool {
    let is_fine = |it: char| it.is_ascii_alphanumeric() || "+-_#.".contains(it);
    !language.is_empty() && language.len() <= 32 && language.chars().all(is_fine)
}

fn escape(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_channel::rich::read;
    use proptest::prelude::*;
    use telegram_double::entities;

    use super::*;

    #[test]
    fn html_has_telegrams_tags() {
        for (markdown, expected) in [
            ("**b *i***", "<b>b </b><b><i>i</i></b>"),
            ("a < b & \"c\"", "a &lt; b &amp; &quot;c&quot;"),
            (
                "```rust\nx<y\n```",
                "<pre><code class=\"language-rust\">x&lt;y</code></pre>",
            ),
            ("```a\"b\nx\n```", "<pre>x</pre>"),
            ("> q\n\nr", "<blockquote>q</blockquote>\n\nr"),
            (
                "[**x**](https://a.b/?c=\"d\")",
                "<a href=\"https://a.b/?c=&quot;d&quot;\"><b>x</b></a>",
            ),
            ("`**c**`", "<code>**c**</code>"),
        ] {
            let parts = read(markdown).split(4000);
            assert_eq!(html(&parts[0]), expected, "{markdown}");
        }
    }

    proptest! {
        #[test]
        fn html_is_well_formed(
            pieces in prop::collection::vec(prop_oneof![
                "[a-z<>&\" ]{1,20}", Just("**".to_owned()), Just("_".to_owned()),
                Just("`".to_owned()), Just("\n```py\n".to_owned()), Just("\n> ".to_owned()),
                Just("\n\n".to_owned()), Just("~~".to_owned()),
                Just("[x](https://a.b/\"<)".to_owned()), Just("\n- ".to_owned()),
            ], 0..40),
            limit in 5_usize..300,
        ) {
            for part in read(&pieces.concat()).split(limit) {
                let text = entities::parse(&html(&part)).map_err(TestCaseError::fail)?;
                prop_assert_eq!(&text, &part.text());
            }
        }
    }
}
