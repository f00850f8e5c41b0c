use proptest::prelude::*;

use super::*;

fn of(text: &str, is_for_change: bool) -> (Option<String>, Value) {
    let document = parse::parse("".as_ref(), text).unwrap();
    let cover = Cover::of(&document);
    let shown = cover.shown(&KeyPath::default(), &document);
    (raw(text, (&cover, &shown), is_for_change), shown)
}

#[test]
fn raw_keeps_comments_for_whoever_may_change_the_file_alone() {
    let text = "{ // mine\n hooks: { token: 'one-secret-word' }, logging: { level: 'warn' } }";
    let (raw, _) = of(text, true);
    let raw = raw.unwrap();
    assert!(
        raw.contains("// mine") && !raw.contains("one-secret-word"),
        "{raw}"
    );
    let (raw, shown) = of(text, false);
    let raw = raw.unwrap();
    assert!(!raw.contains("mine"), "{raw}");
    assert_eq!(parse::parse("".as_ref(), &raw).unwrap(), shown);
}

#[test]
fn raw_has_no_secret_of_a_comment_or_of_a_key_that_is_written_again() {
    for text in [
        "{ // hooks: { token: 'one-secret-word' }\n hooks: { token: 'one-secret-word' } }",
        "{ hooks: { token: 'one-secret-word' }, hooks: { token: 'other-secret-word' } }",
        "{ hooks: { token: 'other-secret-word', \"\\u0074oken\": 'one-secret-word' } }",
        "{ mcp: { servers: { s: { env: { A: 'one-secret-word' }, args: ['one-secret-word'] } } } }",
    ] {
        for is_for_change in [true, false] {
            let (raw, shown) = of(text, is_for_change);
            let raw = raw.unwrap();
            assert!(!raw.contains("secret-word"), "{text}: {raw}");
            assert_eq!(parse::parse("".as_ref(), &raw).unwrap(), shown);
        }
    }
}

/// A secret that no other word has in it.
fn secret() -> impl Strategy<Value = String> {
    "[A-Za-z0-9+/]{2}[ -~é\\n\"'\\\\]{0,6}Z[0-9a-f]{12}"
}

fn quoted(text: &str, is_escaped: bool) -> String {
    if !is_escaped {
        return Value::from(text).to_string();
    }
    let escaped = text.encode_utf16().map(|it| format!("\\u{it:04x}"));
    format!("'{}'", escaped.collect::<String>())
}

/// An argument with the secret in it, and what stands before it.
fn argument(secret: &str, kind: u8) -> [String; 2] {
    match kind % 5 {
        0 => ["-H".to_owned(), format!("X-Auth: {secret}")],
        1 => ["-k".to_owned(), secret.to_owned()],
        2 => ["--api".to_owned(), secret.to_owned()],
        3 => ["-c".to_owned(), format!("TOKEN={secret} exec prog")],
        _ => ["-y".to_owned(), format!("--api-key={secret}")],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn file_what_is_shown_has_no_secret_in_it(
        secrets in prop::collection::vec(secret(), 5),
        is_escaped in any::<[bool; 5]>(),
        (comment, is_twice, kind) in (0..5_usize, any::<bool>(), any::<u8>()),
    ) {
        let [token, again, variable, header, argued] = secrets.as_slice() else {
            unreachable!()
        };
        let text = |at: usize| quoted(&secrets[at], is_escaped[at]);
        let arguments = argument(argued, kind).map(|it| quoted(&it, is_escaped[4])).join(", ");
        let first = if is_twice {
            format!("hooks: {{ token: {} }},", text(1))
        } else {
            String::new()
        };
        let said = secrets[comment].replace(['*', '/'], "").replace('\n', " ");
        let document = format!(
            "{{ // was {said}\n /* {said} */ {first} hooks: {{ token: {} }},\n \
             env: {{ vars: {{ A_KEY: {} }} }},\n mcp: {{ servers: {{ s: {{ command: 'p', \
             args: [{arguments}], headers: {{ X: {} }}, cwd: {} }} }} }} }}",
            text(0), text(2), text(3), text(0),
        );
        for is_for_change in [true, false] {
            let (raw, shown) = of(&document, is_for_change);
            let raw = raw.unwrap();
            prop_assert_eq!(&parse::parse("".as_ref(), &raw).unwrap(), &shown);
            for secret in [token, again, variable, header, argued] {
                let quoted = Value::from(secret.as_str()).to_string();
                let is_shown = raw.contains(secret.as_str())
                    || raw.contains(&quoted[1..quoted.len() - 1]);
                // Comments are for whoever may change the file, but for its secrets as they are.
                let is_old = secret == again && !is_twice;
                let is_part = secret == argued && comment == 4;
                let is_commented = is_for_change && (is_old || is_part);
                prop_assert!(is_commented || !is_shown, "{secret:?}: {raw}");
            }
        }
    }
}
