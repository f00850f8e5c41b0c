use super::*;
use crate::search::sample::snapshot as snapshot_of;

const GERMAN: &[&str] = &[
    "Der Zahnarzt hat einen Termin frei.",
    "Die Tür am Haus, die Haustür und das Krankenhaus; ein Hau und ein Stür.",
    "Der Hausmeister, das Schauspiel, der Rathausplatz; die Arbeit im Zimmer.",
    "Die Physiotherapeutin.",
];

fn parts(word: &str) -> Option<(String, String)> {
    let snapshot = snapshot_of(Language::German, GERMAN);
    Compounds::new(&snapshot, Language::German).parts(word, Language::German)
}

fn pair(first: &str, second: &str) -> Option<(String, String)> {
    Some((first.to_owned(), second.to_owned()))
}

#[test]
fn a_word_is_taken_apart_where_both_parts_are_words() {
    assert_eq!(parts("zahnarzttermin"), pair("zahnarzt", "termin"));
    // With what joins them, and the most even of several.
    assert_eq!(parts("arbeitszimmer"), pair("arbeit", "zimm"));
    assert_eq!(parts("haustür"), pair("haus", "tur"));
    // Of seven bytes, of a part that no text has, of too short a part.
    assert_eq!(parts("hausarz"), None);
    assert_eq!(parts("zahnarztquirl"), None);
    assert_eq!(parts("quirltermin"), None);
    // One of them may be known alone, and not both.
    assert_eq!(parts("zahnarztgarten"), pair("zahnarzt", "gart"));
    assert_eq!(parts("gartenzaun"), None);
}

fn keys(words: &[&str]) -> Vec<Key> {
    let mut keys: Vec<Key> = words.iter().map(|word| term::key(word)).collect();
    keys.sort_unstable();
    keys
}

fn added(snapshot: &Snapshot, add: impl Fn(&Compounds<'_>, &mut Vec<Key>)) -> Vec<Key> {
    let mut keys = Vec::new();
    add(&Compounds::new(snapshot, Language::German), &mut keys);
    keys.sort_unstable();
    keys
}

#[test]
fn longer_words_are_those_that_begin_or_end_with_it() {
    let german = snapshot_of(Language::German, GERMAN);
    let longer = |stem: &str| added(&german, |compounds, keys| compounds.add_longer(stem, keys));
    // Not "Schauspiel" and "Rathausplatz", in which it is.
    assert_eq!(longer("haus"), keys(&["hausmeist", "krankenhaus"]));
    // By three letters at least, and of four at least.
    assert_eq!(longer("hausmei"), keys(&[]));
    assert_eq!(longer("hausme"), keys(&["hausmeist"]));
    assert_eq!(longer("hau"), keys(&[]));
    // Only of languages that write words together.
    let english = snapshot_of(Language::English, GERMAN);
    let longer = added(&english, |compounds, keys| {
        compounds.add_longer("haus", keys)
    });
    assert_eq!(longer, keys(&[]));
}

#[test]
fn akin_are_words_that_begin_alike() {
    let english = snapshot_of(
        Language::English,
        &["The physiotherapist and a photograph, by photosynthesis."],
    );
    let akin = |word: &str| added(&english, |compounds, keys| compounds.add_akin(word, keys));
    assert_eq!(akin("physiotherapy"), keys(&["physiotherapist"]));
    // Two thirds of it have to be there, and the other may not be much longer.
    assert_eq!(akin("physiology"), keys(&[]));
    assert_eq!(akin("photos"), keys(&["photograph"]));
    assert_eq!(akin("photo"), keys(&[]));
}

#[test]
fn no_more_longer_words_are_added_than_are_looked_for() {
    let letters = || (b'a'..=b'z').map(char::from);
    let words: Vec<String> = letters()
        .flat_map(|a| letters().map(move |b| format!("hausq{a}{b}q")))
        .take(LIMIT + 7)
        .collect();
    let text = words.join(" ");
    let snapshot = snapshot_of(Language::German, &[text.as_str()]);
    let found = added(&snapshot, |compounds, keys| {
        compounds.add_longer("haus", keys)
    });
    assert_eq!(found.len(), LIMIT);
}
