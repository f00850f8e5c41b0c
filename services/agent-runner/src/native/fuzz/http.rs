//! A second reading of HTTP/1.1 (RFC 9112), to compare the server with: what it
//! should take for requests, and what it answered.

use serde_json::Value;

/// Header fields that the server takes of one request.
const FIELDS: usize = 100;

/// What the bytes of a client are.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Requests that have their end, before anything that is none.
    pub(super) whole: usize,
    /// Whether each is a HEAD, whose answer has no body.
    heads: Vec<bool>,
    /// What the first one has to be answered, where that is plain.
    pub(super) first: Option<Wanted>,
}

/// The status that a request has to be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Status(u16),
    /// What a tool is asked may be no JSON.
    Tool,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
}

impl Answer {
    pub(super) fn is_for(&self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::Status(status) => self.status == status,
            Wanted::Tool => [200, 400].contains(&self.status),
        }
    }
}

/// A head, taken apart.
#[derive(Debug)]
struct Head {
    first: String,
    fields: Vec<(String, String)>,
}

impl Head {
    /// The head at the beginning of `bytes`, and what follows it.
    fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let line = &rest[..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            rest = &rest[end + 1..];
            match (line.is_empty(), lines.is_empty()) {
                // Empty lines before a request are no part of it.
                (true, true) => {}
                (true, false) => break,
                (false, _) => lines.push(String::from_utf8_lossy(line)),
            }
        }
        let fields = lines[1..].iter().map(|line| {
            let (name, value) = line.split_once(':')?;
            let value = value.trim_matches([' ', '\t']);
            Some((name.to_ascii_lowercase(), value.to_owned()))
        });
        let fields = fields.collect::<Option<Vec<_>>>()?;
        let first = lines[0].to_string();
        Some((Self { first, fields }, rest))
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_it = self.fields.iter().filter(move |field| field.0 == name);
        of_it.map(|field| field.1.as_str())
    }

    /// The body at the beginning of `rest`, which is given back without it.
    fn body<'a>(&self, rest: &'a [u8]) -> Option<(Vec<u8>, &'a [u8])> {
        if let Some(coding) = self.all("transfer-encoding").last() {
            let last = coding.rsplit(',').next().unwrap_or_default().trim();
            return last.eq_ignore_ascii_case("chunked").then(|| chunks(rest))?;
        }
        let lengths = self.all("content-length").flat_map(|all| all.split(','));
        let mut lengths = lengths.map(|length| length.trim().parse::<usize>());
        let length = lengths.next().unwrap_or(Ok(0)).ok()?;
        let is_one = lengths.all(|other| other == Ok(length));
        let (body, rest) = rest.split_at_checked(length)?;
        is_one.then(|| (body.to_vec(), rest))
    }

    /// What a request has to be answered, where every reader agrees about it.
    fn wanted(&self) -> Option<Wanted> {
        let mut words = self.first.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let is_plain = path.starts_with('/') && !path.starts_with("//");
        let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
        let named = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
        };
        let valued = |value: &str| value.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        let fields = self
            .fields
            .iter()
            .all(|(name, value)| named(name) && valued(value));
        let is_new = words.eq(["HTTP/1.1"]);
        let known = [
            "content-length",
            "transfer-encoding",
            "expect",
            "upgrade",
            "connection",
        ];
        let moves = known.iter().any(|name| self.all(name).count() > 1);
        if !is_plain || !path.chars().all(plain) || !fields || !is_new || moves {
            return None;
        }
        if self.fields.len() > FIELDS {
            return Some(Wanted::Status(431));
        }
        Some(match (method, path) {
            ("GET", "/turn" | "/steering") => Wanted::Status(200),
            ("POST", path) if path.starts_with("/tool/") => Wanted::Tool,
            ("GET" | "POST", _) => Wanted::Status(404),
            _ => return None,
        })
    }
}

/// A chunked body, and what follows it.
fn chunks(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        let size = line.split([';', ' ', '\t']).next()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 2..];
        if size == 0 {
            break;
        }
        let (chunk, after) = rest.split_at_checked(size)?;
        body.extend_from_slice(chunk);
        rest = after.strip_prefix(b"\r\n")?;
    }
    // What comes after the last chunk is fields, up to an empty line.
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let is_last = end == 0;
        rest = &rest[end + 2..];
        if is_last {
            return Some((body, rest));
        }
    }
}

/// What a server should take `bytes` for.
pub(super) fn requests(mut bytes: &[u8]) -> Requests {
    let mut requests = Requests::default();
    while let Some((head, rest)) = Head::split(bytes) {
        requests.heads.push(head.first.starts_with("HEAD "));
        let Some((_, rest)) = head.body(rest) else {
            break;
        };
        if requests.whole == 0 {
            requests.first = head.wanted();
        }
        requests.whole += 1;
        bytes = rest;
    }
    requests
}

impl Requests {
    fn is_head(&self, at: usize) -> bool {
        self.heads.get(at).copied().unwrap_or_default()
    }

    /// The answers in `bytes`, which are whole, of JSON, and nothing else.
    pub(super) fn answers(&self, mut bytes: &[u8]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        while !bytes.is_empty() {
            let (head, rest) = Head::split(bytes).expect("an answer has a head");
            let mut words = head.first.split(' ');
            assert!(
                words
                    .next()
                    .is_some_and(|version| version.starts_with("HTTP/1."))
            );
            let status = words.next().and_then(|status| status.parse().ok());
            let status: u16 = status.expect("an answer has a status");
            bytes = rest;
            if status < 200 {
                continue;
            }
            if !self.is_head(answers.len()) {
                let (body, rest) = head.body(rest).expect("an answer has its body");
                let is_json = serde_json::from_slice::<Value>(&body).is_ok();
                assert!(is_json || (body.is_empty() && status >= 400));
                bytes = rest;
            }
            answers.push(Answer { status });
        }
        answers
    }
}
