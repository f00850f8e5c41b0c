//! Code with its words coloured, line by line.

use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::span::{Colour, Line, Span, Style};

/// Bytes of a line that are looked at for words; what is longer stays plain.
const LINE_LIMIT: usize = 2000;
/// Bytes of a block that are coloured: grammars take their time.
const BLOCK_LIMIT: usize = 200_000;

/// What scopes look like, the most particular ones first. The names are those of
/// Sublime's grammars.
const LOOKS: [(&str, Look); 16] = [
    ("comment", Look::Comment),
    ("constant.character.escape", Look::Colour(Colour::Cyan)),
    ("string", Look::Colour(Colour::Green)),
    ("punctuation.definition.string", Look::Colour(Colour::Green)),
    ("constant", Look::Colour(Colour::Cyan)),
    ("entity.name.function", Look::Colour(Colour::Blue)),
    ("variable.function", Look::Colour(Colour::Blue)),
    ("support.function", Look::Colour(Colour::Blue)),
    ("entity.name", Look::Colour(Colour::Yellow)),
    ("support.type", Look::Colour(Colour::Yellow)),
    ("entity.other.attribute-name", Look::Colour(Colour::Yellow)),
    ("storage", Look::Colour(Colour::Magenta)),
    ("keyword", Look::Colour(Colour::Magenta)),
    ("markup.inserted", Look::Colour(Colour::Green)),
    ("markup.deleted", Look::Colour(Colour::Red)),
    ("invalid", Look::Colour(Colour::Red)),
];

/// Names that models and people give languages, and what the grammars call them.
/// JSON with comments is read as JavaScript, which has both.
const OTHER_NAMES: [(&str, &str); 18] = [
    ("python3", "python"),
    ("jsx", "tsx"),
    ("node", "javascript"),
    ("csharp", "cs"),
    ("golang", "go"),
    ("shell", "sh"),
    ("console", "sh"),
    ("ksh", "sh"),
    ("jsonc", "javascript"),
    ("json5", "javascript"),
    ("jsonl", "json"),
    ("ndjson", "json"),
    ("docker", "dockerfile"),
    ("objc", "m"),
    ("mysql", "sql"),
    ("postgres", "sql"),
    ("postgresql", "sql"),
    ("sqlite", "sql"),
];

#[derive(Debug, Clone, Copy)]
enum Look {
    Comment,
    Colour(Colour),
}

/// Colours the lines of one block.
pub(crate) struct Code {
    /// `None`: a language that nobody knows, or a block that is too long.
    grammar: Option<(ParseState, ScopeStack)>,
    bytes: usize,
}

/// All languages; unpacked when the first code is shown.
fn languages() -> &'static SyntaxSet {
    static LANGUAGES: OnceLock<SyntaxSet> = OnceLock::new();
    LANGUAGES.get_or_init(two_face::syntax::extra_newlines)
}

/// The grammar of a language by any of its names.
fn grammar(language: &str) -> Option<&'static SyntaxReference> {
    let known = |name: &str| languages().find_syntax_by_token(name);
    let other = || {
        let names = OTHER_NAMES.iter();
        let mut own = names.filter(|(name, _)| name.eq_ignore_ascii_case(language));
        own.find_map(|(_, name)| known(name))
    };
    known(language).or_else(other)
}

/// The scopes of [`LOOKS`] as numbers.
fn looks() -> &'static [(Scope, Look)] {
    static NUMBERED: OnceLock<Vec<(Scope, Look)>> = OnceLock::new();
    NUMBERED.get_or_init(|| {
        let numbered = LOOKS.iter();
        numbered
            .filter_map(|(name, look)| Some((Scope::new(name).ok()?, *look)))
            .collect()
    })
}

impl Code {
    /// Begins a block in `language`, as the fence names it.
    pub(crate) fn begin(language: &str) -> Self {
        let syntax = Some(language)
            .filter(|language| !language.is_empty())
            .and_then(grammar);
        Self {
            grammar: syntax.map(|syntax| (ParseState::new(syntax), ScopeStack::new())),
            bytes: 0,
        }
    }

    /// The next line, which has no line end.
    pub(crate) fn line(&mut self, text: &str) -> Line {
        self.bytes += text.len();
        if self.bytes > BLOCK_LIMIT || text.len() > LINE_LIMIT {
            self.grammar = None;
        }
        self.coloured(text)
            .unwrap_or_else(|| vec![Span::new(text, &Style::default())])
    }

    /// `None` where a grammar fails, too.
    fn coloured(&mut self, text: &str) -> Option<Line> {
        let (state, stack) = self.grammar.as_mut()?;
        let ended = format!("{text}\n");
        let changes = state.parse_line(&ended, languages()).ok()?;
        let mut line = Line::new();
        let mut from = 0;
        for (at, change) in changes {
            let at = at.min(text.len());
            line.extend(span(text.get(from..at)?, stack));
            from = at;
            stack.apply(&change).ok()?;
        }
        line.extend(span(text.get(from..)?, stack));
        Some(line)
    }
}

fn span(text: &str, stack: &ScopeStack) -> Option<Span> {
    (!text.is_empty()).then(|| Span::new(text, &style(stack)))
}

/// The look of the innermost scope that has one.
fn style(stack: &ScopeStack) -> Style {
    let look = stack.as_slice().iter().rev().find_map(|scope| {
        let known = looks().iter().find(|(known, _)| known.is_prefix_of(*scope));
        known.map(|(_, look)| *look)
    });
    match look {
        None => Style::default(),
        Some(Look::Comment) => Style {
            italic: true,
            ..Style::faint()
        },
        Some(Look::Colour(colour)) => Style {
            colour: Some(colour),
            ..Style::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(language: &str, text: &str) -> Vec<(String, Option<Colour>)> {
        let line = Code::begin(language).line(text);
        line.into_iter()
            .map(|span| (span.text, span.style.colour))
            .collect()
    }

    #[test]
    fn code_of_known_languages_is_coloured() {
        for language in [
            "rust",
            "rs",
            "python",
            "toml",
            "typescript",
            "sh",
            "json",
            "diff",
        ] {
            let text = match language {
                "rust" | "rs" => "let text = \"words\"; // said",
                "python" => "text = 'words' # said",
                "toml" => "text = \"words\" # said",
                "typescript" => "const text: string = 'words'; // said",
                "sh" => "echo \"words\" # said",
                "json" => "{\"text\": \"words\"}",
                _ => "+words",
            };
            let coloured = colours(language, text);
            let whole: String = coloured.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(whole, text, "{language}");
            assert!(
                coloured.iter().any(|(_, colour)| colour.is_some()),
                "{language}: {coloured:?}"
            );
        }
    }

    #[test]
    fn code_each_other_name_is_that_of_a_grammar_and_needed() {
        let known = |name: &str| languages().find_syntax_by_token(name).map(|one| &one.name);
        let is_wrong = |(name, own): &(&str, &str)| {
            let upper = grammar(&name.to_uppercase()).map(|one| &one.name);
            known(name).is_some() || known(own).is_none() || upper != known(own)
        };
        let wrong: Vec<_> = OTHER_NAMES.into_iter().filter(is_wrong).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn code_of_nobody_knows_what_is_plain() {
        for language in ["", "no such language", "\u{1b}[31m"] {
            assert_eq!(colours(language, "a b"), [("a b".to_owned(), None)]);
        }
        let long = "x".repeat(LINE_LIMIT + 1);
        assert_eq!(colours("rust", &long).len(), 1);
    }
}
