use super::*;
use crate::search::sample::{snapshot as snapshot_of, snapshot_of_many};

fn read(language: Language, texts: &[&str], question: &str) -> Question {
    Question::new(question, &snapshot_of(language, texts), None)
}

/// Words with what each counts, names with a star.
fn told(question: &Question) -> Vec<String> {
    let word = |word: &SearchWord| {
        let star = if word.is_name { "*" } else { "" };
        format!("{}{star} {:.2}", word.plain, word.factor)
    };
    question.words.iter().map(word).collect()
}

#[test]
fn words_of_a_question_count_what_they_say() {
    let english = &["Anna Becker bought a green sofa."][..];
    let of = |question: &str| told(&read(Language::English, english, question));
    // First and last name are one name, and what is asked with says nothing.
    assert_eq!(
        of("Where did Anna Becker buy the green sofa for Carla?"),
        [
            "anna* 0.60",
            "becker* 0.60",
            "buy 1.00",
            "green 1.00",
            "sofa 1.00",
            "carla* 1.00"
        ]
    );
    // Once each; what begins a sentence is no name for that.
    assert_eq!(
        of("what about the sofa, the sofa and Carla. Anna"),
        ["sofa 1.00", "carla* 1.00", "anna 1.00"]
    );
    // A day, and what is joined in no text by its parts.
    assert_eq!(
        of("where is the COPPER-kettle-2b from 2024-05-03"),
        [" 1.00", "copper* 1.00", "kettle 1.00", "2b 1.00"]
    );
}

#[test]
fn german_nouns_count_more_where_they_are_written_so() {
    let german = &["Der Zahnarzt hat einen Termin im Haus."][..];
    let of = |question: &str| told(&read(Language::German, german, question));
    assert_eq!(
        of("Wann ist der Zahnarzttermin im schönen Haus?"),
        [
            "zahnarzttermin 0.60",
            "zahnarzttermin 0.60",
            "schönen 0.50",
            "haus 1.00"
        ]
    );
    assert_eq!(
        of("wann ist der zahnarzttermin im schönen haus?"),
        [
            "zahnarzttermin 0.60",
            "zahnarzttermin 0.60",
            "schönen 1.00",
            "haus 1.00"
        ]
    );
}

/// Of a run without spaces each pair counts a part of it.
#[test]
fn pairs_of_a_run_count_little_more_than_one_word() {
    let question = read(Language::English, &["東京タワーへ行く"], "東京タワー");
    let factors: f32 = question.words.iter().map(|word| word.factor).sum();
    assert!(
        question.words.len() > 2 && factors < question.words.len() as f32,
        "{question:?}"
    );
    assert!(
        question.words.iter().all(|word| word.keys.len() == 1),
        "{question:?}"
    );
}

fn word_of<'a>(question: &'a Question, plain: &str) -> &'a SearchWord {
    question
        .words
        .iter()
        .find(|word| word.plain == plain)
        .unwrap()
}

#[test]
fn words_of_now_and_of_help_count_next_to_nothing() {
    for (language, text, now, said) in [
        (
            Language::English,
            "Who keeps the ledger these days?",
            "days",
            "ledger",
        ),
        (
            Language::German,
            "Was kostet der Pelztierzoo derzeit?",
            "derzeit",
            "pelztierzoo",
        ),
        (
            Language::French,
            "Où puis-je garer la roulotte ?",
            "puis",
            "roulotte",
        ),
        (
            Language::Spanish,
            "¿Dónde guardo ahora la carabina?",
            "ahora",
            "carabina",
        ),
    ] {
        let question = read(language, &["x"], text);
        assert!(word_of(&question, now).factor <= IDLE, "{text}");
        assert_eq!(word_of(&question, said).factor, 1.0, "{text}");
    }
}

/// After an article a word is a noun, and without it a note tells nothing of it.
#[test]
fn words_after_an_article_are_no_verbs() {
    let spanish =
        |text: &str, word: &str| word_of(&read(Language::Spanish, &["x"], text), word).is_doing;
    assert!(!spanish("¿Cuánto cuesta el alfiler?", "alfiler"));
    assert!(spanish("¿Quién puede alfilar?", "alfilar"));
    let french =
        |text: &str, word: &str| word_of(&read(Language::French, &["x"], text), word).is_doing;
    // Not where the article points to something.
    assert!(french("Où les ranger ?", "ranger"));
    assert!(french("Que zigzague-t-elle ?", "zigzague"));
}

/// A name is not known by other words because of its stem.
#[test]
fn names_have_no_words_for_them() {
    let question = read(Language::Spanish, &["x"], "¿Qué talla usa Pilar?");
    let pilar = word_of(&question, "pilar");
    assert!(
        pilar.is_name && !pilar.is_doing && !pilar.has_others(),
        "{pilar:?}"
    );
    let question = read(Language::Spanish, &["x"], "¿Qué marca es la pila?");
    assert!(word_of(&question, "pila").has_others());
}

#[test]
fn german_names_have_nothing_before_them() {
    let german =
        |text: &str, word: &str| word_of(&read(Language::German, &["x"], text), word).is_bare;
    assert!(german("Welche Mütze trägt Irmgard?", "irmgard"));
    assert!(german("Was sagte der Wirt zu Irmgard?", "irmgard"));
    for (text, word) in [
        ("Wo steht das Zelluloid?", "zelluloid"),
        ("Wo gibt es gutes Zelluloid?", "zelluloid"),
        ("Wo sind drei Zelluloid?", "zelluloid"),
        ("Was sagt Frau Irmgard?", "frau"),
    ] {
        assert!(!german(text, word), "{text}");
    }
    let english = read(Language::English, &["x"], "How old does kestrelbox get?");
    assert!(word_of(&english, "kestrelbox").is_bare);
}

#[test]
fn numbers_after_a_thing_say_which_is_meant() {
    let is_name =
        |text: &str, word: &str| word_of(&read(Language::English, &["x"], text), word).is_name;
    assert!(is_name("What is in crate 17?", "17"));
    assert!(is_name("Who wrote Botany II?", "ii"));
    assert!(!is_name("Who took 17?", "17"));
    assert!(!is_name("Who meets at 17?", "17"));
}

/// 2026-11-24T12:00:00Z, a Tuesday.
const TUESDAY: i64 = 1_795_521_600_000;

#[test]
fn days_from_today_are_the_days_they_mean() {
    for (language, text, day) in [
        (
            Language::English,
            "What did the roofer say last Friday?",
            "2026-11-20",
        ),
        (Language::German, "Was gab es gestern?", "2026-11-23"),
        (Language::English, "おとといの夕食は?", "2026-11-22"),
        (Language::English, "一昨日の夕食は?", "2026-11-22"),
    ] {
        let question = read(language, &["x"], text).asked_at(text, TUESDAY);
        assert_eq!(question.day.as_ref().unwrap().name, day, "{text}");
        let says = |word: &SearchWord| calendar::says_day(&word.plain);
        assert!(!question.words.iter().any(says), "{text}");
        let key = question.day.unwrap().key;
        let word = question.words.iter().find(|word| word.keys == [key]);
        assert_eq!(word.unwrap().factor, DAY, "{text}");
    }
    let text = "What did the roofer say?";
    assert_eq!(
        read(Language::English, &["x"], text)
            .asked_at(text, TUESDAY)
            .day,
        None
    );
}

/// What must not be eaten is told by what is not tolerated.
#[test]
fn eating_is_known_by_what_is_not_tolerated_where_it_is_denied() {
    let has = |text: &str| {
        let question = read(Language::English, &["x"], text);
        let eat = word_of(&question, "eat");
        eat.related.contains(&term::key("allerg"))
    };
    assert!(has("What can't Rosalind eat?") && !has("What does Rosalind eat?"));
    let japanese = read(Language::English, &["x"], "直人が食べてはいけないものは?");
    let allergy = term::key("アレ");
    assert!(
        japanese
            .words
            .iter()
            .any(|word| word.related.contains(&allergy))
    );
}

#[test]
fn words_of_a_run_belong_together_by_their_piece() {
    let question = read(Language::English, &["x"], "会員番号と住所");
    let wholes: Vec<u32> = question.words.iter().map(|word| word.whole).collect();
    assert_eq!(wholes.len(), 4, "{question:?}");
    assert!(wholes[0] == wholes[2] && wholes[2] != wholes[3] && wholes[0] != 0);
    let staying = read(Language::English, &["x"], "千鶴はどこに住んでいる");
    assert!(staying.words.iter().any(|word| word.is_needed));
}

#[test]
fn pairs_that_say_a_day_give_way_to_it_and_others_stay() {
    let text = "昨日の医者";
    let asked = read(Language::English, &["昨日は医者に行った"], text);
    let has = |question: &Question, pair: &str| {
        let mut words = question.words.iter();
        words.any(|word| word.keys == [term::key(pair)])
    };
    assert!(has(&asked, "昨日") && has(&asked, "医者"), "{asked:?}");
    // 2026-03-04.
    let asked = asked.asked_at(text, 1_772_625_600_000);
    assert!(!has(&asked, "昨日") && has(&asked, "医者"), "{asked:?}");
    assert_eq!(asked.day.unwrap().name, "2026-03-03");
}

#[test]
fn question_long_question_is_looked_at_up_to_its_limit() {
    let letters = "\u{e4}".repeat(TEXT_LIMIT);
    assert_eq!(start(&letters).len(), TEXT_LIMIT);
    assert_eq!(
        start(&format!("a{letters}")).len(),
        TEXT_LIMIT - 1,
        "whole letters"
    );
    let exact = "x".repeat(TEXT_LIMIT);
    assert_eq!(
        (start(&exact), start("who?"), start("")),
        (&*exact, "who?", "")
    );
    let pasted = format!(
        "who keeps the ledger? {} quetzal",
        "filler ".repeat(TEXT_LIMIT / 7)
    );
    let question = read(Language::English, &["x"], &pasted);
    assert!(question.words.iter().any(|word| word.plain == "ledger"));
    assert!(!question.words.iter().any(|word| word.plain == "quetzal"));
}

/// What else is said for a word is known by the pair in which it begins.
#[test]
fn words_of_a_run_have_others_where_they_begin() {
    let question = read(Language::English, &["x"], "近所医者");
    let (neighbour, doctor) = (&question.words[0].related, &question.words[1].related);
    assert!(!doctor.is_empty() && !neighbour.is_empty(), "{question:?}");
    assert!(
        !doctor.iter().any(|key| neighbour.contains(key)),
        "{question:?}"
    );
}

#[test]
fn question_of_a_reason_asks_for_no_price() {
    let asked = |text| read(Language::Spanish, &["x"], text).asked;
    assert!(asked("¿Por qué le cuesta dormir?").is_empty());
    assert!(!asked("¿Cuánto cuesta dormir?").is_empty());
}

#[test]
fn question_names_who_may_have_said_it() {
    let question = read(Language::English, &["x"], "Did Ada call?");
    assert!(question.speakers.contains(&term::speaker_key("ada")));
    assert!(!question.speakers.contains(&term::speaker_key("bob")));
}

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
fn question_what_is_not_tolerated_is_found_in_other_languages() {
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
