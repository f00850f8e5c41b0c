//! By what each word of a question is found, and what is known of it.

use super::*;
use crate::search::sample::snapshot_of_many;

const BOTH: [(Language, &str); 2] = [
    (Language::English, "The dog sleeps in the kitchen."),
    (Language::German, "Der Hund schläft in der Küche."),
];

fn of_both(question: &str) -> Question {
    Question::new(question, &snapshot_of_many(&BOTH), None)
}

#[test]
fn words_that_say_nothing_are_not_looked_for_in_another_language() {
    let question = read(Language::German, &[BOTH[1].1], "Why does the dog bark?");
    let plain: Vec<&str> = question.words.iter().map(|it| it.plain.as_str()).collect();
    assert_eq!(plain, ["dog", "bark"]);
}

/// What is written in digits may be in a text in another way, or in none.
#[test]
fn codes_and_days_are_found_by_themselves() {
    let texts = &["The COPPER-kettle-2b is here."][..];
    let keys = |question: &str, key: Key| -> Vec<f32> {
        let question = read(Language::English, texts, question);
        let words = question.words.iter();
        words
            .filter(|word| word.keys.contains(&key))
            .map(|word| word.factor)
            .collect()
    };
    let code = |code: &str| {
        let mut keys = Vec::new();
        analysis::words(code, |word| {
            if let analysis::Word::Exact(word) = word {
                keys.push(term::key(word));
            }
        });
        keys[0]
    };
    assert_eq!(
        keys("where is the copper-kettle-2b", code("copper-kettle-2b")),
        [1.0]
    );
    assert_eq!(
        keys("where is the iron-kettle-2b", code("iron-kettle-2b")),
        [0.0; 0]
    );
    assert_eq!(keys("who has 555-0199", code("555-0199")), [1.0]);
    let date = "2024-05-03".parse().unwrap();
    let day = term::date_key(calendar::Mark::Date(date));
    assert_eq!(keys("what was on 2024-05-03", day), [1.0]);
}

/// Who does something is found by what is done, and a name by itself alone.
#[test]
fn forms_of_verbs_are_found_and_names_have_none() {
    let is_related = |language, texts: &[&str], text: &str, word: &str, root: &str| {
        let question = read(language, texts, text);
        let key = term::key(&analysis::stem(root, language));
        word_of(&question, word).related.contains(&key)
    };
    let french = |text, word, root| is_related(Language::French, &["x"], text, word, root);
    assert!(french("Quand vincent-ils ?", "vincent", "vinc"));
    assert!(!french("Quand part Vincent ?", "vincent", "vinc"));
    let german = |text, word, root| is_related(Language::German, &["x"], text, word, root);
    assert!(german("was ernst du?", "ernst", "ern"));
    assert!(!german("Wo ist Ernst?", "ernst", "ern"));
    // In English only where a text has such a word.
    let english = |texts, text| is_related(Language::English, texts, text, "gliders", "glider");
    assert!(!english(&["x"], "who gliders?"));
    let tunes = |texts| is_related(Language::English, texts, "who zings it?", "zings", "zinger");
    assert!(tunes(&["Ada is the zinger."]) && !tunes(&["Ada is here."]));
}

#[test]
fn words_count_by_what_they_are() {
    let factor = |texts: &[&str], text: &str, word: &str| {
        word_of(&read(Language::English, texts, text), word).factor
    };
    let none = &["x"][..];
    assert_eq!(
        factor(none, "what did the vicar mention?", "mention"),
        FRAME
    );
    // What stands before a noun may be left out by who tells of it, unless texts have it.
    let grouse = "where is the grouse quiver?";
    assert_eq!(factor(none, grouse, "grouse"), MODIFIER);
    assert_eq!(factor(none, grouse, "quiver"), 1.0);
    assert_eq!(factor(&["A grouse."], grouse, "grouse"), 1.0);
    assert_eq!(factor(none, "where is the dog quiver?", "dog"), 1.0);
}

#[test]
fn kind_that_is_asked_for_is_a_noun_that_says_something() {
    let is_kind =
        |text: &str, word: &str| word_of(&read(Language::English, &["x"], text), word).is_kind;
    assert!(is_kind("Which quiver is the vicar's?", "quiver"));
    assert!(!is_kind("Which quiver is the vicar's?", "vicar"));
    assert!(!is_kind("Which kind is the vicar's?", "kind"));
    assert!(!is_kind("What borrowed the vicar?", "borrowed"));
}

/// A word with a capital is no name where others are known for it.
#[test]
fn words_that_have_others_are_no_names() {
    let question = of_both("Who saw the Dog of Quiver?");
    assert!(!word_of(&question, "dog").is_name && word_of(&question, "quiver").is_name);
    let question = of_both("Who had to Mention it to Quiver?");
    assert!(!word_of(&question, "mention").is_name);
}

#[test]
fn words_are_found_in_other_languages_and_once_each() {
    let question = of_both("Where does the dog sleep?");
    let dog = word_of(&question, "dog");
    let hund = term::key(&analysis::stem("hund", Language::German));
    assert!(
        dog.foreign.contains(&(hund, Some(Language::German))),
        "{dog:?}"
    );
    for text in [
        "Where is the hotel garage?",
        "Wo ist das Hotel, wo die Garage?",
        "医者の電話番号",
    ] {
        for word in of_both(text).words {
            let own = [&word.keys[..], &word.related].concat();
            let all: Vec<Key> = own
                .iter()
                .copied()
                .chain(word.foreign.iter().map(|it| it.0))
                .collect();
            let once: BTreeSet<Key> = all.iter().copied().collect();
            assert_eq!(all.len(), once.len(), "{text}: {word:?}");
        }
    }
    // Only in the languages that there are.
    let question = read(Language::English, &["x"], "Where does the dog sleep?");
    let mut foreign = word_of(&question, "dog").foreign.iter();
    assert!(foreign.all(|it| it.1.is_none()));
}

#[test]
fn what_is_not_tolerated_is_found_in_other_languages() {
    let question = of_both("What can't Rosalind eat?");
    let eat = word_of(&question, "eat");
    let german = eat
        .foreign
        .iter()
        .filter(|it| it.1 == Some(Language::German));
    let intolerance = term::key(&analysis::stem("unverträglichkeit", Language::German));
    assert!(
        german.map(|it| it.0).any(|key| key == intolerance),
        "{eat:?}"
    );
}

/// What is known of each pair of characters of questions that are written without spaces.
#[test]
fn pairs_are_what_their_piece_is() {
    let of = |run: &str, pair: &str| -> SearchWord {
        let question = read(Language::English, &["x"], run);
        let mut words = question.words.into_iter();
        words.find(|word| word.keys == [term::key(pair)]).unwrap()
    };
    // One pair counts one word, three somewhat more together.
    assert_eq!(of("住所は?", "住所").factor, 1.0);
    let all = 1.0 + 2.0 * NEXT_PAIR;
    assert_eq!(of("会員番号は?", "会員").factor, all / 3.0);
    // A verb has an ending.
    assert!(of("借金を踏倒った", "踏倒").is_doing && !of("借金を踏倒った", "借金").is_doing);
    // Where somebody lives has to be told where that is asked for.
    let lives = |run: &str| {
        let mut words = read(Language::English, &["x"], run).words.into_iter();
        words.any(|word| word.is_needed)
    };
    assert!(lives("千鶴はどこに住居するか") && !lives("千鶴はいつ住居するか"));
    assert!(!lives("鳥取はどこですか"));
    // Other words go with the pair that they are other words for.
    let (of_lid, of_doctor) = (of("鍋蓋の医者", "鍋蓋"), of("鍋蓋の医者", "医者"));
    let doctor = of("医者", "医者");
    assert!(of_lid.related.is_empty() && of_doctor.related == doctor.related);
    assert!(!doctor.related.is_empty());
}

/// A weight is told by its unit, without the word.
#[test]
fn pairs_say_what_is_to_be_told() {
    let question = read(Language::English, &["x"], "自転車の体重は?");
    let sought: Vec<&[Key]> = question
        .words
        .iter()
        .filter(|word| word.is_sought)
        .map(|word| &*word.keys)
        .collect();
    assert_eq!(sought, [[term::key("体重")]]);
}
