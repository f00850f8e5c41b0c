//! What is kept of the text of a configuration that is replaced.

use std::collections::BTreeSet;

use crate::redact::RECOGNISABLE;
use crate::{edit, parse, redact};

/// A text to be kept.
#[derive(Debug, Default)]
pub struct BackupText {
    /// The text; `None`: nothing is to be kept.
    pub text: Option<String>,
    /// The secrets that are not in it, and were.
    removed: BTreeSet<String>,
}

impl BackupText {
    /// Whether a text has one of the removed secrets.
    pub fn has_removed(&self, text: &str) -> bool {
        let read = parse::parse("".as_ref(), text).unwrap_or_default();
        let mut values = redact::secrets(&read).into_iter();
        let is_removed = |secret: &str| self.removed.contains(secret);
        values.any(|(_, secret)| is_removed(secret))
            || self.recognisable().any(|secret| text.contains(secret))
    }

    fn recognisable(&self) -> impl Iterator<Item = &String> {
        self.removed
            .iter()
            .filter(|secret| secret.len() >= RECOGNISABLE)
    }
}

/// What is kept of `before` when `after` takes its place. A text that cannot be
/// read is not: nobody knows which secrets are in it.
pub fn text(before: &str, after: &str) -> BackupText {
    let read = |text: &str| parse::parse("".as_ref(), text);
    let (Ok(old), Ok(new)) = (read(before), read(after)) else {
        return BackupText::default();
    };
    let still: BTreeSet<&str> = redact::secrets(&new)
        .into_iter()
        .map(|(_, secret)| secret)
        .collect();
    let mut kept = BackupText::default();
    let mut text = Ok(before.to_owned());
    for (path, secret) in redact::secrets(&old) {
        if !still.contains(secret) {
            kept.removed.insert(secret.to_owned());
            text = text.and_then(|text| edit::unset(&text, &path));
        }
    }
    // Without the key rather than with a placeholder, which would be a token
    // that everybody knows.
    let without_comments = |text: String| {
        let mut secrets = kept.recognisable();
        secrets.try_fold(text, |text, secret| {
            let shown = text.replace(secret, redact::REDACTED);
            // Where it was more than a comment the text means something else.
            read(&shown).is_ok().then_some(shown)
        })
    };
    let text = text.ok().filter(|_| !before.is_empty());
    kept.text = text.and_then(without_comments);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_that_are_gone_are_not_kept() {
        let before = "{ // was sk-old-secret-1\n  gateway: { auth: { token: 'stays' }, port: 1 },\n  \
                      models: { providers: { x: { baseUrl: 'http://a', apiKey: 'sk-old-secret-1' } } },\n  \
                      env: { vars: { A: 'one', B: 'two' } } }";
        let after =
            "{ gateway: { auth: { token: 'stays' } }, env: { vars: { A: 'other', B: 'two' } } }";
        let kept = text(before, after);
        let said = kept.text.clone().unwrap();
        for gone in ["sk-old-secret-1", "'one'"] {
            assert!(!said.contains(gone), "{said}");
        }
        for stays in [
            "token: 'stays'",
            "B: 'two'",
            "port: 1",
            "http://a",
            "// was",
        ] {
            assert!(said.contains(stays), "{said}");
        }
        assert!(kept.has_removed("{ env: { vars: { C: 'one' } } }"));
        assert!(kept.has_removed("{ // sk-old-secret-1\n }"));
        assert!(!kept.has_removed(after));
        assert!(!kept.has_removed(""));
    }

    #[test]
    fn lists_of_secrets_are_taken_apart_from_their_end() {
        let before = "{ gateway: { tokens: ['a', 'b', 'c'], token: ['d', 'e', 'f'] } }";
        let kept = text(before, "{ gateway: { token: ['e'] } }").text.unwrap();
        assert!(kept.contains("'e'"), "{kept}");
        assert!(!kept.contains("'d'") && !kept.contains("'f'"), "{kept}");
    }

    #[test]
    fn text_that_cannot_be_read_is_not_kept() {
        assert_eq!(text("{ token: 'x'", "{}").text, None);
        assert_eq!(text("", "{}").text, None);
        assert_eq!(text("{ a: 1 }", "{}").text.unwrap(), "{ a: 1 }");
    }
}
