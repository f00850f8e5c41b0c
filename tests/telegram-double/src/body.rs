//! A call's parameters, in each of the ways that the Bot API takes them.

use serde_json::{Map, Value, json};

/// The parameters, files as `{"name", "size"}`.
pub(crate) fn read(kind: &str, body: &[u8], query: &str) -> Result<Value, String> {
    let mut all = Map::new();
    form(query, &mut all);
    if let Some(boundary) = kind.split("boundary=").nth(1) {
        parts(boundary.trim_matches('"'), body, &mut all)?;
    } else if kind.starts_with("application/x-www-form-urlencoded") {
        form(&String::from_utf8_lossy(body), &mut all);
    } else if !body.is_empty() {
        let Ok(Value::Object(own)) = serde_json::from_slice(body) else {
            return Err("Bad Request: can't parse JSON".into());
        };
        all.extend(own);
    }
    Ok(all.into())
}

/// Fields of a form are text; those that are structures are so in JSON.
fn value(name: &str, text: &str) -> Value {
    if name == "text" || name == "caption" {
        return text.into();
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn form(text: &str, all: &mut Map<String, Value>) {
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        all.insert(name.to_owned(), value(name, &decoded(text)));
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match (first, code.and_then(|it| u8::from_str_radix(it, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            (other, _) => {
                bytes.push(*other);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parts(boundary: &str, body: &[u8], all: &mut Map<String, Value>) -> Result<(), String> {
    let broken = || "Bad Request: the body of parts is broken".to_owned();
    let mark = format!("--{boundary}");
    let mut rest = &body[find(body, mark.as_bytes()).ok_or_else(broken)? + mark.len()..];
    loop {
        if rest.starts_with(b"--") {
            attach(all);
            return Ok(());
        }
        let head_end = find(rest, b"\r\n\r\n").ok_or_else(broken)?;
        let head = String::from_utf8_lossy(&rest[..head_end]).into_owned();
        rest = &rest[head_end + 4..];
        let end = find(rest, format!("\r\n{mark}").as_bytes()).ok_or_else(broken)?;
        let content = &rest[..end];
        let name = field(&head, "name").ok_or_else(broken)?;
        let taken = match field(&head, "filename") {
            Some(file) => json!({"name": file, "size": content.len(),
                "content": String::from_utf8_lossy(&content[..content.len().min(200)])}),
            None => value(&name, &String::from_utf8_lossy(content)),
        };
        all.insert(name, taken);
        rest = &rest[end + 2 + mark.len()..];
    }
}

/// A value of the head of a part, with or without a blank before its name and
/// quotes around it.
fn field(head: &str, key: &str) -> Option<String> {
    let wanted = format!("{key}=");
    let begin = head.match_indices(&wanted).find(|(at, _)| {
        let before = head[..*at].trim_end_matches(' ');
        before.ends_with(';')
    })?;
    let value = &head[begin.0 + wanted.len()..];
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split([';', '\r']).next(),
    };
    value.map(str::to_owned)
}

/// Puts the files of other parts where they are named as `attach://PART`.
fn attach(all: &mut Map<String, Value>) {
    let named: Vec<(String, String)> = all
        .iter()
        .filter_map(|(name, value)| {
            let part = value.as_str()?.strip_prefix("attach://")?;
            Some((name.clone(), part.to_owned()))
        })
        .collect();
    for (name, part) in named {
        if let Some(file) = all.remove(&part) {
            all.insert(name, file);
        }
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|it| it == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_is_read_in_each_way() {
        let json = read("application/json", b"{\"chat_id\":3}", "").unwrap();
        assert_eq!(json, json!({"chat_id": 3}));
        let kind = "application/x-www-form-urlencoded";
        let form = read(kind, b"chat_id=3&text=a+%C3%A4", "").unwrap();
        assert_eq!(form, json!({"chat_id": 3, "text": "a ä"}));
        let body = "--x\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n3\r\n--x\r\n\
            Content-Disposition: form-data; name=\"document\"; filename=\"a.txt\"\r\n\r\nabc\r\n--x--\r\n";
        let parts = read("multipart/form-data; boundary=x", body.as_bytes(), "").unwrap();
        assert_eq!(parts["document"]["size"], 3);
        let body = "--x\r\ncontent-disposition:form-data;name=\"document\"\r\n\r\nattach://f\r\n--x\r\n\
            content-disposition:form-data;name=\"f\";filename=a.txt\r\n\r\nabcd\r\n--x--\r\n";
        let named = read("multipart/form-data; boundary=x", body.as_bytes(), "").unwrap();
        assert_eq!(named["document"]["size"], 4);
        assert_eq!(named["document"]["name"], "a.txt");
        assert!(
            read(
                "multipart/form-data; boundary=x",
                &body.as_bytes()[..90],
                ""
            )
            .is_err()
        );
    }
}
