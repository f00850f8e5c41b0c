use super::*;
use crate::search::sample::snapshot as snapshot_of;
use openclaw_analysis::Traits;

const GERMAN: &[&str] = &[
    "Der Zahnarzt hat einen Termin frei.",
    "Die Tür am Haus, die Haustür und das Krankenhaus; ein Hau und ein Stür.",
    "Der Hausmeister, das Schauspiel, der Rathausplatz; die Arbeit im Zimmer.",
    "Die Physiotherapeutin.",
    "Ein Ei und ein Uhu.",
];

fn parts(word: &str) -> Option<(String, String)> {
    let snapshot = snapshot_of(Language::German, GERMAN);
    Compounds::new(&snapshot, Language::German).parts(word, Language::German)
}

fn pair(first: &str, second: &str) -> Option<(String, String)> {
    Some((first.to_owned(), second.to_owned()))
}

#[test]
fn word_is_taken_apart_where_both_parts_are_words() {
    assert_eq!(parts("zahnarzttermin"), pair("zahnarzt", "termin"));
    // With what joins them, and the most even of several.
    assert_eq!(parts("arbeitszimmer"), pair("arbeit", "zimm"));
    assert_eq!(parts("haustür"), pair("haus", "tur"));
    // Of seven bytes, of a part that no text has, of too short a part.
    assert_eq!(parts("hausarz"), None);
    assert_eq!(parts("zahnarztquirl"), None);
    assert_eq!(parts("quirltermin"), None);
    // Of three bytes at least.
    assert_eq!(parts("zahnarztuhu"), pair("zahnarzt", "uhu"));
    assert_eq!(parts("uhuzahnarzt"), pair("uhu", "zahnarzt"));
    assert_eq!(parts("zahnarztei"), None);
    assert_eq!(parts("eizahnarzt"), None);
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
fn compound_no_more_longer_words_are_added_than_are_looked_for() {
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

fn is_near(found: f32, expected: f32) {
    assert!(
        (found - expected).abs() < 1e-6,
        "{found} instead of {expected}"
    );
}

#[test]
fn parts_of_a_word_are_what_it_is() {
    let german = snapshot_of(Language::German, GERMAN);
    let compounds = Compounds::new(&german, Language::German);
    let whole = || SearchWord {
        plain: "zahnarzttermin".to_owned(),
        keys: vec![1],
        related: vec![2],
        foreign: vec![(3, None)],
        things: vec![4],
        factor: 0.5,
        is_name: true,
        is_doing: true,
        is_kind: true,
        is_sought: true,
        is_needed: true,
        is_noun: true,
        whole: 7,
        fact: Traits::MONEY,
        ..SearchWord::default()
    };
    let parts = compounds.expand("zahnarzttermin", whole(), &[]);
    assert_eq!(parts.len(), 2);
    for (part, own) in parts.iter().zip(["zahnarzt", "termin"]) {
        assert_eq!(part.plain, "zahnarzttermin");
        assert_eq!(part.keys, [1, term::key(own)]);
        assert!(part.related.contains(&2) && part.foreign.contains(&(3, None)));
        assert_eq!((&part.things[..], part.whole), (&[4][..], 7));
        is_near(part.factor, 0.5 * SHARE);
        assert!(part.is_doing && part.is_kind && part.is_sought && part.is_needed && part.is_noun);
        assert!(!part.is_name && part.fact.meets(Traits::MONEY));
    }
    // An appointment tells when, and has other words; a dentist has other ones.
    assert!(parts[1].fact.meets(Traits::DATE) && !parts[0].fact.meets(Traits::DATE));
    let meeting = term::key(&analysis::stem("treffen", Language::German));
    assert!(parts[1].related.contains(&meeting) && !parts[0].related.contains(&meeting));
    assert!(parts.iter().all(|part| part.foreign.len() > 1));
    // Of one part, the words that have it in them.
    let door = compounds.expand("haustermin", whole(), &[]);
    assert!(door[0].related.contains(&term::key("krankenhaus")));
    // What is not made of others stays as it is.
    let one = compounds.expand("quirl", whole(), &["haus".to_owned()]);
    assert_eq!((one.len(), one[0].factor, one[0].is_name), (1, 0.5, true));
    assert!(one[0].related.contains(&term::key("krankenhaus")));
}

/// A word that no text has is known by those that begin as it does, one that some text has by itself.
#[test]
fn words_that_are_there_need_none_that_are_akin() {
    let english = snapshot_of(Language::English, &["The physiotherapist."]);
    let expanded = |key: Key| {
        let word = SearchWord {
            keys: vec![key],
            ..SearchWord::default()
        };
        let words = Compounds::new(&english, Language::English).expand("physiotherapy", word, &[]);
        words[0].related.contains(&term::key("physiotherapist"))
    };
    assert!(expanded(1) && !expanded(term::key("physiotherapist")));
}
