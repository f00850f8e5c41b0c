//! A question about somebody who is named by what they are to the writer, asked by their name.

use super::*;
use crate::query::{Hit, Query};
use openclaw_analysis::{self as analysis, Asked};

/// Hits among which the name is looked for.
const TOLD: usize = 20;
/// The most people who are so: of more of them it is not known who is meant.
const MOST: usize = 2;

impl Engine {
    /// The same question as `query` with the name of each that notes tell of whom it asks about:
    /// "my sister's new flat" is told of Heidrun.
    pub(super) fn by_name(&self, query: &Query) -> Result<Vec<Query>, Error> {
        let asked = analysis::asked_relations(&query.text);
        let Some(asked) = asked.first() else {
            return Ok(Vec::new());
        };
        let told = Query {
            text: asked.word.to_owned(),
            limit: TOLD,
            ..query.clone()
        };
        let names = names(&self.search(&told)?.hits, asked, &query.text);
        if names.len() > MOST {
            return Ok(Vec::new());
        }
        let with = |name: &String| Query {
            text: with_name(&query.text, asked, name),
            ..query.clone()
        };
        Ok(names.iter().map(with).collect())
    }
}

/// The names of those who are what `asked` says, by what `hits` tell, written as `question` is.
fn names(hits: &[Hit], asked: &Asked<'_>, question: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.kind.tells()) {
        let lines = hit.context.iter().map(String::as_str);
        for line in lines.chain(hit.snippet.lines()) {
            let is_alike = analysis::is_spaceless(line) == analysis::is_spaceless(question);
            let name = analysis::name_of(asked.relation, line).filter(|_| is_alike);
            if let Some(name) = name.filter(|name| !names.iter().any(|it| it == name)) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn with_name(text: &str, asked: &Asked<'_>, name: &str) -> String {
    let (before, after) = (&text[..asked.phrase.start], &text[asked.phrase.end..]);
    format!("{before}{name}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Body, Document};

    #[test]
    fn name_stands_where_the_relative_was_asked_for() {
        let name = |text: &str, name: &str| {
            let asked = analysis::asked_relations(text);
            with_name(text, &asked[0], name)
        };
        assert_eq!(
            name("Where does my sister live?", "Anna"),
            "Where does Anna live?"
        );
        assert_eq!(
            name("When is my sister's birthday?", "Anna"),
            "When is Anna's birthday?"
        );
        assert_eq!(name("妹の仕事は?", "美咲"), "美咲の仕事は?");
    }

    fn note(path: &str, text: &str) -> Document {
        Document {
            path: path.to_owned(),
            source: Source::Memory,
            stamp: String::new(),
            modified_ms: 0,
            day_ms: None,
            topic: String::new(),
            body: Body::Text(text.to_owned()),
        }
    }

    #[test]
    fn recall_answers_about_who_is_named_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
        let family = note("family.md", "- My sister Heidrun lives in Kiel");
        let hip = note("hip.md", "- Heidrun's operation is on 3 May");
        let others = note("others.md", "- Bread\n- Boiler serviced in May");
        engine.put(&[family, hip, others]).unwrap();
        let first = |question: &str| {
            let query = Query::new(question, 0);
            let hits = engine.recall(&query, |_| true).unwrap().hits;
            hits.first().map(|hit| hit.path.clone())
        };
        let asked = "When is my sister's operation?";
        assert_eq!(first(asked).as_deref(), Some("hip.md"));
        assert_eq!(first("When is my brother's operation?"), None);
    }
}
