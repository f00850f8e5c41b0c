//! Where a value is written.

use crate::key::KeyPath;
use crate::pipeline::include::Source;
use crate::problem::{Place, Problem};
use crate::syntax::{self, Node};

/// Gives the problems their places. `sources` are the files, in the order in
/// which they were merged: of two that set a value the later one counts.
pub fn place(problems: &mut [Problem], sources: &[Source]) {
    for problem in problems
        .iter_mut()
        .filter(|problem| problem.place.is_none())
    {
        problem.place = find(&problem.path, sources).map(Box::new);
    }
}

/// The keys that are written more than once in a file, each at the place that counts.
pub fn twice(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources {
        let structure = syntax::parse(&source.text).ok().flatten();
        for (parts, at) in structure.iter().flat_map(Node::twice) {
            let path = source.mount.parts().iter().chain(&parts).collect();
            let problem =
                "is written twice in this object: only the last one counts; take the other out";
            let mut problem = Problem::other(path, problem);
            problem.place = Some(Box::new(place_at(source, at)));
            problems.push(problem);
        }
    }
    problems
}

/// Where the value, or what is nearest above it, is written.
fn find(path: &KeyPath, sources: &[Source]) -> Option<Place> {
    let exact = |path: &KeyPath| sources.iter().rev().find_map(|source| within(path, source));
    let mut path = path.clone();
    loop {
        if let Some(place) = exact(&path) {
            return Some(place);
        }
        // A key that is missing is looked for where it would belong.
        if path.parts().is_empty() {
            return None;
        }
        path = path.parent();
    }
}

fn within(path: &KeyPath, source: &Source) -> Option<Place> {
    let below = path.parts().strip_prefix(source.mount.parts())?;
    let at = syntax::parse(&source.text).ok()??.place(below)?;
    Some(place_at(source, at))
}

fn place_at(source: &Source, at: usize) -> Place {
    let (line, column) = syntax::line_and_column(&source.text, at);
    Place {
        file: source.path.clone(),
        line,
        column,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, mount: &str, text: &str) -> Source {
        Source {
            path: path.into(),
            mount: mount.split('.').filter(|part| !part.is_empty()).collect(),
            text: text.to_owned(),
        }
    }

    fn found(key: &str, sources: &[Source]) -> Option<String> {
        let path = key.split('.').filter(|part| !part.is_empty()).collect();
        let place = find(&path, sources)?;
        let file = place.file.display();
        Some(format!("{file}:{}:{}", place.line, place.column))
    }

    #[test]
    fn twice_written_keys_are_told_where_they_count() {
        let text = "{ a: 1, b: { c: 1, 'c': 2,\n \"\\u0063\": 3 }, d: [{ e: 1 }, { e: 1, e: 2 }],\n a: 2 }";
        let sources = [
            source("/first", "", "{ a: 1 }"),
            source("/second", "x", text),
        ];
        let found: Vec<String> = twice(&sources).iter().map(Problem::placed).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        for (found, place) in
            found
                .iter()
                .zip(["/second:3:2: x.a", "/second:2:2: x.b.c", "x.d.1.e"])
        {
            assert!(found.contains(place), "{found}");
        }
    }

    #[test]
    fn value_is_found_where_it_was_written_last() {
        let sources = [
            source("/first", "", "{ a: 1,\n  b: { c: 2 } }"),
            source("/second", "b", "{\n\n c: 3, d: 4 }"),
            source("/broken", "", "{ a: "),
        ];
        let place = |key| found(key, &sources).unwrap();
        assert_eq!(place("a"), "/first:1:3");
        assert_eq!(place("b.c"), "/second:3:2");
        assert_eq!(place("b.d"), "/second:3:8");
        // What is nowhere, where what is above it is.
        assert_eq!(place("b.d.e"), "/second:3:8");
        assert_eq!(place("a.x.y"), "/first:1:3");
        assert_eq!(place("x"), "/first:1:1");
        assert_eq!(found("x", &sources[2..]), None);
        assert_eq!(found("", &[]), None);
    }

    #[test]
    fn places_are_given_to_problems_without_one() {
        let sources = [source("/first", "", "{ a: 1 }")];
        let problem = || Problem::other(["a"].into_iter().collect(), "is odd");
        let known = Place {
            file: "/known".into(),
            line: 9,
            column: 9,
        };
        let mut problems = [problem(), problem()];
        problems[1].place = Some(Box::new(known));
        place(&mut problems, &sources);
        let files = problems.map(|problem| problem.place.unwrap().file);
        assert_eq!(files, ["/first", "/known"].map(std::path::PathBuf::from));
    }
}
