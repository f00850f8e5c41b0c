//! Where a value is written.

use crate::key::KeyPath;
use crate::pipeline::include::Source;
use crate::problem::{Place, Problem};
use crate::syntax;

/// Gives the problems their places. `sources` are the files, in the order in
/// which they were merged: of two that set a value the later one counts.
pub(crate) fn place(problems: &mut [Problem], sources: &[Source]) {
    for problem in problems
        .iter_mut()
        .filter(|problem| problem.place.is_none())
    {
        problem.place = find(&problem.path, sources).map(Box::new);
    }
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
    let (line, column) = syntax::line_and_column(&source.text, at);
    Some(Place {
        file: source.path.clone(),
        line,
        column,
    })
}
