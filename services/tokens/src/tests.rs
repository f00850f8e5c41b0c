use std::fmt::Write as _;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::*;

static TABLES: LazyLock<[CoreBPE; 2]> =
    LazyLock::new(|| [tiktoken_rs::cl100k_base(), tiktoken_rs::o200k_base()].map(Result::unwrap));

fn counted(text: &str) -> usize {
    let counts = TABLES.iter().map(|it| it.encode_ordinary(text).len());
    counts.max().unwrap()
}

#[test]
fn characters_of_other_scripts_count_more() {
    assert_eq!(characters("жа"), 8);
    assert_eq!(characters("狐"), 8);
    assert_eq!(characters("🦊"), 12);
    assert_eq!(characters("狐 ж"), 12);
    assert_eq!(characters(""), 0);
}

#[test]
fn tokens_are_whole_ones() {
    assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
}

const PROSE: &str = "The quick brown fox jumps over the lazy dog, and then it goes home. When it \
    rains, people stay inside their houses; they read books, cook something warm, or talk about \
    what happened yesterday. Nobody knows how long this weather is going to last, but everyone \
    agrees that it has been unusually cold for this time of the year.\n";

#[test]
fn prose_is_counted_as_less_than_twice_as_much() {
    let (estimated, counted) = (tokens(characters(PROSE)), counted(PROSE));
    assert!(estimated >= counted, "{estimated} of {counted}");
    assert!(estimated < 2 * counted, "{estimated} of {counted}");
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn of(alphabet: &'static [u8]) -> impl Strategy<Value = String> {
    let letters = vec(prop::sample::select(alphabet), 400..1_200);
    letters.prop_map(|bytes| bytes.into_iter().map(char::from).collect())
}

fn lines(of: impl Fn(u64) -> String + 'static) -> impl Strategy<Value = String> {
    vec(any::<u64>(), 20..60).prop_map(move |numbers| {
        let lines: Vec<String> = numbers.into_iter().map(&of).collect();
        lines.join("\n")
    })
}

fn csv(seed: u64) -> String {
    let numbers = (0..8).map(|at| format!("{}.{:02}", (seed >> at) % 1000, (seed >> at) % 100));
    numbers.collect::<Vec<_>>().join(",")
}

fn uuid(seed: u64) -> String {
    let other = seed.rotate_left(29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let text = format!("{seed:016x}{other:016x}");
    format!(
        "{}-{}-{}-{}-{}",
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..]
    )
}

fn json(seed: u64) -> String {
    format!(
        "{{\"id\":{seed},\"name\":\"fox\",\"ok\":true,\"values\":[{}],\"of\":null}},",
        csv(seed)
    )
}

fn url(seed: u64) -> String {
    format!(
        "https://host{}.example.com/path/{seed:x}?q={}&page={}#top",
        seed % 99,
        seed % 7919,
        seed % 31
    )
}

fn art(seed: u64) -> String {
    let mark = |at: u32| b"/\\_|-^ .oO*#()=~"[(seed.rotate_left(at) % 16) as usize];
    (0..48).map(|at| char::from(mark(at))).collect()
}

fn code(seed: u64) -> String {
    let mut text = String::new();
    let name = ["getElementById", "e", "parse_headers", "MAX_LEN"][(seed % 4) as usize];
    let _ = write!(
        text,
        "function(e,t){{if(!t[{}]){{return {name}(e)||void 0}}",
        seed % 100
    );
    let _ = write!(
        text,
        "\n    let {name} = self.inner.iter().map(|it| it.{name}()?).collect();"
    );
    text
}

fn no_prose() -> impl Strategy<Value = String> {
    prop_oneof![
        of(DIGITS),
        of(&DIGITS[..52]),
        of(&DIGITS[..26]),
        of(&DIGITS[26..52]),
        of(b"0123456789abcdef"),
        of(b"0123456789ABCDEF"),
        of(b"0123456789"),
        of(b"abcdefghijklmnopqrstuvwxyz234567"),
        of(b"!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\"),
        lines(uuid),
        lines(json),
        lines(url),
        lines(art),
        lines(code),
        lines(csv),
    ]
}

proptest! {
    #[test]
    fn characters_of_text_that_is_no_prose_are_not_less_than_it_costs(text in no_prose()) {
        let (estimated, counted) = (tokens(characters(&text)), counted(&text));
        prop_assert!(estimated >= counted, "{estimated} of {counted}: {text}");
        prop_assert!(estimated < counted * 5 / 2, "{estimated} of {counted}: {text}");
    }
}
