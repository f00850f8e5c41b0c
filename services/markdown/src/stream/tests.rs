use super::*;
use crate::render;

/// The text without its escape sequences.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        match characters.next() {
            Some('[') => while characters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            Some(']') => {
                while characters.next().is_some_and(|c| c != '\u{1b}') {}
                characters.next();
            }
            other => panic!("an escape sequence of another kind: {other:?}"),
        }
    }
    plain
}

const TEXT: &str = "# Title

Some *words* with `code`,
and [a link](https://example.org).

1. one
2. two
   - inner

     more
3. three

> quoted
> words

```rust
fn main() {}

// end
```

| a | b |
|---|--:|
| 1 | 22 |

The end.
";

const SHOWN: &str = "Title

Some words with code,
and a link.

1. one
2. two
   • inner

     more
3. three

│ quoted
│ words

  rust
  fn main() {}
  
  // end

a │  b
──┼───
1 │ 22

The end.
";

#[test]
fn stream_shows_structure() {
    assert_eq!(plain(&render(TEXT, 60)), SHOWN);
}

#[test]
fn stream_is_the_same_however_the_text_comes() {
    for size in [1, 2, 3, 7, 50] {
        let mut stream = Stream::new(60);
        let mut shown = String::new();
        let letters: Vec<char> = TEXT.chars().collect();
        for piece in letters.chunks(size) {
            shown += &stream.push(&piece.iter().collect::<String>());
            let _ = stream.draft();
        }
        shown += &stream.finish();
        assert_eq!(shown, render(TEXT, 60), "in pieces of {size}");
    }
}

#[test]
fn stream_gives_out_what_is_final_and_drafts_the_rest() {
    let mut stream = Stream::new(60);
    assert_eq!(stream.push("first **wo"), "");
    assert_eq!(plain(&stream.draft().lines.join("\n")), "first **wo");
    assert_eq!(plain(&stream.push("rds**\n\nsecond")), "first words\n");
    assert_eq!(plain(&stream.draft().lines.join("\n")), "\nsecond");
    assert_eq!(
        plain(&stream.push("\n\n```sh\nls\nec")),
        "\nsecond\n\n  sh\n  ls\n"
    );
    assert_eq!(plain(&stream.draft().lines.join("\n")), "  ec");
    assert_eq!(plain(&stream.push("ho\n```\n")), "  echo\n");
    assert_eq!(stream.draft(), Draft::default());
    assert_eq!(stream.finish(), "");
}

#[test]
fn stream_knows_addresses_that_were_named_before() {
    let mut stream = Stream::new(60);
    stream.push("[Home]: https://example.org/home\n\nfirst\n\n");
    let shown = stream.push("see [home]\n\n");
    assert!(
        shown.contains("\u{1b}]8;;https://example.org/home\u{1b}\\"),
        "{shown:?}"
    );
}

#[test]
fn stream_shows_addresses_that_it_does_not_link() {
    let shown = plain(&render(
        "[run](javascript:alert) [bank.example](https://evil.example)",
        90,
    ));
    assert_eq!(
        shown,
        "run (javascript:alert) bank.example (https://evil.example)\n"
    );
}

#[test]
fn stream_lines_fit() {
    for columns in [20, 33, 80] {
        for line in plain(&render(TEXT, columns)).lines() {
            assert!(crate::width(line) <= columns, "{columns}: {line:?}");
        }
    }
}

#[test]
fn tabs_behind_a_fence_do_not_keep_it_from_closing() {
    for fence in ["```", "~~~", "> ```", "- ```"] {
        let lead: String = fence.replace('-', " ").trim_end_matches(['`', '~']).into();
        for end in ["\n", "\t\n", " \t\n", "\t \r\n"] {
            let mark = &fence[lead.len()..];
            let text = format!("{fence}\n{lead}code\n{lead}{mark}{end}\nafter");
            let shown = plain(&render(&text, 80));
            assert!(!shown.contains(mark), "{text:?}: {shown:?}");
            assert!(shown.ends_with("\nafter\n"), "{text:?}: {shown:?}");
        }
    }
}
