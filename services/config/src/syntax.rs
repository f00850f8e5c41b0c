//! Where things are in a JSON5 text, so that one value can be changed and
//! everything else, comments too, stays as it was written.
//!
//! This looks at the structure only; what values mean is the `json5` crate's.

use std::collections::HashMap;
use std::ops::Range;

/// Lists and objects in each other. Parsers recurse, and a text of brackets
/// alone must not overflow the stack; OpenClaw's deepest section has eight.
pub(crate) const DEPTH_LIMIT: usize = 100;

/// Why a text has no structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// More than [`DEPTH_LIMIT`] lists and objects in each other, from here on.
    TooDeep(usize),
    /// Something is missing or not expected here.
    Structure(usize),
}

/// A value and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// In bytes, without what is around it.
    pub span: Range<usize>,
    /// What it is made of.
    pub kind: Kind,
}

/// What a value is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A string, a number, a name.
    Scalar,
    /// A list.
    Array(Vec<Node>),
    /// An object.
    Object(Vec<Member>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Without quotes and escapes.
    pub key: String,
    /// Where it is written.
    pub key_span: Range<usize>,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// The value below that key or index. Of a key that is written twice the
    /// last counts, as it does for parsers.
    pub(crate) fn child(&self, part: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Scalar => None,
            Kind::Array(items) => items.get(part.parse::<usize>().ok()?),
            Kind::Object(members) => members
                .iter()
                .rev()
                .find(|member| member.key == part)
                .map(|member| &member.value),
        }
    }

    /// The value at that path.
    pub(crate) fn at(&self, parts: &[String]) -> Option<&Node> {
        parts.iter().try_fold(self, |node, part| node.child(part))
    }

    /// The keys below it that are written more than once in their object, each with its
    /// path and the place that counts, the last one.
    pub(crate) fn twice(&self) -> Vec<(Vec<String>, usize)> {
        let mut found = Vec::new();
        self.collect_twice(&mut Vec::new(), &mut found);
        found
    }

    fn collect_twice(&self, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, usize)>) {
        let below: Vec<(String, &Node)> = match &self.kind {
            Kind::Scalar => Vec::new(),
            Kind::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| (at.to_string(), item)).collect()
            }
            Kind::Object(members) => {
                let members = members.iter();
                members.map(|it| (it.key.clone(), &it.value)).collect()
            }
        };
        if let Kind::Object(members) = &self.kind {
            let mut last: HashMap<&str, (usize, usize)> = HashMap::new();
            for member in members {
                let (count, at) = last.entry(&member.key).or_default();
                (*count, *at) = (*count + 1, member.key_span.start);
            }
            let twice = last.into_iter().filter(|(_, (count, _))| *count > 1);
            let mut twice: Vec<_> = twice
                .map(|(key, (_, at))| ([path.as_slice(), &[key.to_owned()]].concat(), at))
                .collect();
            twice.sort_by_key(|(_, at)| *at);
            found.extend(twice);
        }
        for (part, node) in below {
            path.push(part);
            node.collect_twice(path, found);
            path.pop();
        }
    }

    /// Where the key or the value at that path is written.
    pub(crate) fn place(&self, parts: &[String]) -> Option<usize> {
        let Some((last, above)) = parts.split_last() else {
            return Some(self.span.start);
        };
        let parent = self.at(above)?;
        if let Kind::Object(members) = &parent.kind {
            let member = members.iter().rev().find(|member| member.key == *last)?;
            return Some(member.key_span.start);
        }
        parent.child(last).map(|node| node.span.start)
    }
}

/// The structure of `text`; `None` when there is nothing but comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    let mut scanner = Scanner {
        text,
        at: 0,
        depth: 0,
    };
    scanner.trivia();
    if scanner.peek().is_none() {
        return Ok(None);
    }
    let node = scanner.value()?;
    scanner.trivia();
    match scanner.peek() {
        None => Ok(Some(node)),
        Some(_) => Err(Fault::Structure(scanner.at)),
    }
}

/// Line and column of a byte, counted from 1, columns in characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// The first byte at or behind `at` that is neither space nor comment.
pub(crate) fn skip_trivia(text: &str, at: usize) -> usize {
    let mut scanner = Scanner { text, at, depth: 0 };
    scanner.trivia();
    scanner.at
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fault<T>(&self) -> Result<T, Fault> {
        Err(Fault::Structure(self.at))
    }

    fn trivia(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(is_space).len();
            let comment = comment(&rest[blank..]);
            if blank + comment == 0 {
                return;
            }
            self.at += blank + comment;
        }
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => self.nested(Self::object)?,
            Some('[') => self.nested(Self::array)?,
            Some('"' | '\'') => {
                self.string()?;
                Kind::Scalar
            }
            _ => {
                self.word()?;
                Kind::Scalar
            }
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Kind, Fault>) -> Result<Kind, Fault> {
        if self.depth == DEPTH_LIMIT {
            return Err(Fault::TooDeep(self.at));
        }
        self.depth += 1;
        self.at += 1;
        let kind = inner(self)?;
        self.at += 1;
        self.depth -= 1;
        Ok(kind)
    }

    fn array(&mut self) -> Result<Kind, Fault> {
        let mut items = Vec::new();
        loop {
            self.trivia();
            if self.peek() == Some(']') {
                return Ok(Kind::Array(items));
            }
            items.push(self.value()?);
            self.separator(']')?;
        }
    }

    fn object(&mut self) -> Result<Kind, Fault> {
        let mut members = Vec::new();
        loop {
            self.trivia();
            if self.peek() == Some('}') {
                return Ok(Kind::Object(members));
            }
            let start = self.at;
            match self.peek() {
                Some('"' | '\'') => self.string()?,
                _ => self.word()?,
            }
            let key_span = start..self.at;
            self.trivia();
            if self.peek() != Some(':') {
                return self.fault();
            }
            self.at += 1;
            self.trivia();
            members.push(Member {
                key: decoded(&self.text[key_span.clone()]),
                key_span,
                value: self.value()?,
            });
            self.separator('}')?;
        }
    }

    /// A comma, or the end that follows without one.
    fn separator(&mut self, end: char) -> Result<(), Fault> {
        self.trivia();
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(())
            }
            Some(c) if c == end => Ok(()),
            _ => self.fault(),
        }
    }

    fn string(&mut self) -> Result<(), Fault> {
        let mut characters = self.rest().char_indices();
        let quote = characters.next().map(|(_, quote)| quote);
        while let Some((at, c)) = characters.next() {
            if c == '\\' {
                characters.next();
            } else if Some(c) == quote {
                self.at += at + c.len_utf8();
                return Ok(());
            }
        }
        self.fault()
    }

    /// A number, `true`, a key without quotes.
    fn word(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|(at, c)| is_space(*c) || ",:{}[]\"'".contains(*c) || comment(&rest[*at..]) > 0)
            .map_or(rest.len(), |(at, _)| at);
        if end == 0 {
            return self.fault();
        }
        self.at += end;
        Ok(())
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The length of the comment that `text` begins with. One that never ends is
/// none, and does not belong anywhere.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        let ends = ['\n', '\r', '\u{2028}', '\u{2029}'];
        return text.find(ends).unwrap_or(text.len());
    }
    if !text.starts_with("/*") {
        return 0;
    }
    text[2..].find("*/").map_or(0, |end| end + 4)
}

/// A key as parsers read it.
fn decoded(written: &str) -> String {
    if written.starts_with(['"', '\'']) {
        return json5::from_str(written).unwrap_or_else(|_| written.to_owned());
    }
    if !written.contains('\\') {
        return written.to_owned();
    }
    let object: Result<serde_json::Map<String, serde_json::Value>, _> =
        json5::from_str(&format!("{{{written}:0}}"));
    object
        .ok()
        .and_then(|object| object.keys().next().cloned())
        .unwrap_or_else(|| written.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "// head\n{ a: /* x */ 'b}', \"c d\": [1, {e: 2,},], // tail\n f\\u0067: true }";

    fn written(path: &[&str]) -> &'static str {
        let parts: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        let root = parse(TEXT).unwrap().unwrap();
        &TEXT[root.at(&parts).unwrap().span.clone()]
    }

    #[test]
    fn values_are_where_they_are_written() {
        assert_eq!(written(&["a"]), "'b}'");
        assert_eq!(written(&["c d", "1"]), "{e: 2,}");
        assert_eq!(written(&["c d", "1", "e"]), "2");
        assert_eq!(written(&["fg"]), "true");
        let root = parse(TEXT).unwrap().unwrap();
        let at = root.place(&["fg".to_owned()]).unwrap();
        assert_eq!(line_and_column(TEXT, at), (3, 2));
    }

    #[test]
    fn syntax_nothing_but_comments_is_nothing() {
        assert_eq!(parse(" \n// x\n/* y */"), Ok(None));
        assert_eq!(parse(""), Ok(None));
    }

    #[test]
    fn depth_has_a_limit() {
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(&deep(DEPTH_LIMIT)).is_ok());
        assert_eq!(
            parse(&deep(DEPTH_LIMIT + 1)),
            Err(Fault::TooDeep(DEPTH_LIMIT))
        );
        assert!(matches!(
            parse(&"{a:".repeat(100_000)),
            Err(Fault::TooDeep(_))
        ));
    }

    #[test]
    fn syntax_what_has_no_structure_is_a_fault() {
        for text in [
            "{", "{a}", "{a:}", "[1 2]", "'x", "1 2", "{,}", "]", "{} /* x",
        ] {
            assert!(matches!(parse(text), Err(Fault::Structure(_))), "{text}");
        }
    }
}
