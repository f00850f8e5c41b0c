use super::super::question::Day;
use super::super::search_word::SearchWord;
use super::*;
use crate::term;
use openclaw_analysis::Sought;

mod sentences;

fn word(own: &str, related: &str) -> SearchWord {
    let keys = |words: &str| words.split_whitespace().map(term::key).collect();
    SearchWord {
        keys: keys(own),
        related: keys(related),
        factor: 1.0,
        ..SearchWord::default()
    }
}

fn name(own: &str) -> SearchWord {
    SearchWord {
        is_name: true,
        ..word(own, "")
    }
}

/// What `text` under `above` tells of words that weigh so much.
fn tells(words: &[(SearchWord, f32)], asked: Traits, text: &str, above: &str) -> Evidence {
    let words: Vec<(&SearchWord, f32)> =
        words.iter().map(|(word, weight)| (word, *weight)).collect();
    of(
        &Wanted::new(&words, (asked, Sought::default())),
        (text, (above, false)),
        Language::English,
    )
}

fn share(words: &[(SearchWord, f32)], text: &str, above: &str) -> f64 {
    tells(words, Traits::default(), text, above).share
}

fn is_near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-6,
        "{found} instead of {expected}"
    );
}

#[test]
fn share_is_what_is_there_of_what_the_words_weigh() {
    let words = [(word("fox", "vixen"), 3.0), (word("hen", ""), 1.0)];
    is_near(share(&words, "the fox and the hen", ""), 1.0);
    is_near(share(&words, "the fox", ""), 0.75);
    // What is missing with all that means the same counts 1.1.
    is_near(
        share(&words, "a hen, a hen", ""),
        1.0 / (3.0 * f64::from(MISSING) + 1.0),
    );
    is_near(share(&words, "a river", ""), 0.0);
    // What means nearly the same counts 0.8, what stands above 0.9.
    is_near(share(&words, "a vixen", ""), 0.6);
    is_near(share(&words, "a hen", "the fox"), 0.25 + 0.75 * 0.9);
    is_near(share(&words, "a bear", "the fox"), 0.75 * 0.9);
    is_near(share(&words, "a fox", "the fox"), 0.75);
    is_near(share(&[], "a fox", ""), 0.0);
}

#[test]
fn name_that_is_asked_for_has_to_be_there() {
    let words = [(name("ada"), 1.0), (word("hen", ""), 1.0)];
    is_near(share(&words, "the hen", ""), 0.5 * 0.6);
    is_near(share(&words, "the hen of Ada", ""), 1.0);
    is_near(share(&words, "the hen", "Ada"), 0.5 + 0.5 * 0.9);
}

#[test]
fn kind_of_fact_that_is_asked_for_has_to_be_there() {
    let words = [(word("hen", ""), 1.0)];
    let share = |text: &str| tells(&words, Traits::NUMBER, text, "").share;
    is_near(share("three hen"), 1.0);
    is_near(share("a hen"), 0.54);
    is_near(share("A hen. There are three cats."), 0.9 * 0.6);
    is_near(tells(&words, Traits::default(), "a hen", "").share, 1.0);
    // What is nothing but a day is of what was said before it.
    let dated = |text: &str| tells(&words, Traits::DATE, text, "").share;
    is_near(dated("A hen is booked. 3 May, 9:30."), 1.0);
    is_near(dated("A hen is booked. 3 May is when my cats come."), 0.54);
    // A word that names a kind of fact is met by the fact.
    let price = |fact: Traits| {
        let price = SearchWord {
            fact,
            ..word("price", "")
        };
        [(price, 1.0)]
    };
    // Less than the word itself, and not nothing.
    for (fact, text) in [
        (Traits::MONEY, "it is 3 euros"),
        (Traits::NUMBER, "there are three"),
    ] {
        let share = self::share(&price(fact), text, "");
        assert!((0.4..0.9).contains(&share), "{text}: {share}");
    }
    is_near(self::share(&price(Traits::MONEY), "it is old", ""), 0.0);
}

#[test]
fn evidence_what_was_done_is_not_told_by_what_only_stands_under_it() {
    let bought = SearchWord {
        is_doing: true,
        ..word("buy", "purchas")
    };
    let words = [(bought, 1.0), (word("van", ""), 1.0)];
    let share = |text: &str| tells(&words, Traits::DATE, text, "Van").share;
    is_near(
        share("test due on Friday"),
        0.9 / (1.0 + f64::from(MISSING)),
    );
    is_near(share("van on Friday"), 1.0 / (1.0 + f64::from(DOING.0)));
    is_near(share("purchased on Friday"), (0.8 + 0.9) / 2.0);
}

#[test]
fn evidence_what_is_not_tolerated_is_told_by_what_is_not_taken() {
    let avoid = SearchWord {
        is_of_intolerance: true,
        ..word("take", "allerg")
    };
    let words = [(avoid, 1.0), (word("pill", ""), 1.0)];
    let share = |text: &str| share(&words, text, "");
    is_near(share("I never take that pill"), 1.0);
    is_near(share("that pill upsets me"), (0.8 + 1.0) / 2.0);
    // What is taken is not what cannot be.
    is_near(share("I take a pill"), 1.0 / (1.0 + f64::from(MISSING)));
}

#[test]
fn price_of_what_a_line_names_is_not_that_of_what_it_stands_under() {
    let words = [(word("cat", ""), 1.0)];
    let share = |text: &str| tells(&words, Traits::MONEY.with(Traits::AMOUNT), text, "Cat").share;
    is_near(share("12 € a month"), 0.9);
    is_near(share("Insured for 12 € a month"), 0.9 * UNTOLD);
    is_near(share("The cat is insured for 12 €"), 1.0);
}

#[test]
fn fact_that_a_word_names_stands_for_it_where_that_is_asked_for() {
    let booking = SearchWord {
        fact: Traits::DATE,
        ..word("book", "")
    };
    let words = [(booking, 1.0), (word("trip", ""), 1.0)];
    let share = |asked| tells(&words, asked, "trip on Friday, room 3", "").share;
    is_near(share(Traits::DATE), 1.0);
    is_near(share(Traits::NUMBER), 0.5);
}

#[test]
fn evidence_what_may_be_done_is_told_best_by_what_says_so() {
    let word = word("dog", "");
    let wanted = Wanted::new(&[(&word, 1.0)], (Traits::default(), Sought::PERMISSION));
    let share = |text: &str| of(&wanted, (text, ("", false)), Language::English).share;
    is_near(share("no dog"), 1.0);
    is_near(share("a dog"), UNSAID);
}

#[test]
fn text_that_says_nothing_else_is_a_repeat() {
    let words = [(word("fox", ""), 1.0), (word("live", ""), 1.0)];
    let is_repeat = |text: &str| tells(&words, Traits::default(), text, "").is_repeat;
    assert!(is_repeat("Where does the fox live?") && is_repeat("fox"));
    assert!(!is_repeat("The fox lives in the forest"));
    assert!(!is_repeat("") && !is_repeat("the"));
}

#[test]
fn short_text_answers_as_it_is_and_of_a_long_one_the_best_sentences() {
    let filler = "Nothing of all this has to do with what anybody asked for today. ".repeat(4);
    let words = [
        (word("fox", ""), 3.0),
        (word("hen", ""), 2.0),
        (word("river", ""), 1.0),
    ];
    let answer = |text: &str, asked: Traits| tells(&words, asked, text, "").answer;
    let none = Traits::default();
    assert_eq!(answer("  The fox. A hen.\n", none), "The fox. A hen.");
    let exact = "x".repeat(240);
    assert_eq!(answer(&exact, none), exact);
    let one = format!("{filler}The fox sleeps. {filler}");
    assert_eq!(answer(&one, none), "The fox sleeps.");
    let next = format!("{filler}The fox sleeps. The hens too. {filler}");
    assert_eq!(answer(&next, none), "The fox sleeps. The hens too.");
    let before = format!("{filler}The hens sleep. The foxes too. {filler}");
    assert_eq!(answer(&before, none), "The hens sleep. The foxes too.");
    let again = format!("{filler}The fox sleeps. The fox wakes. {filler}");
    assert_eq!(answer(&again, none), "The fox sleeps.", "it has no more");
    let first = format!("The fox sleeps. {filler}");
    assert_eq!(answer(&first, none), "The fox sleeps.");
    // A sentence with the fact is worth more, and one beside it is shown.
    let fact = format!("{filler}The fox sleeps. {filler}At 7 the fox wakes. {filler}");
    assert_eq!(answer(&fact, Traits::NUMBER), "At 7 the fox wakes.");
    let beside = format!("{filler}The fox sleeps. Then come 7 others. {filler}");
    assert_eq!(
        answer(&beside, Traits::NUMBER),
        "The fox sleeps. Then come 7 others."
    );
}

#[test]
fn sentences_end_where_one_ends() {
    for (text, expected) in [
        (
            "One two. Three four! Five?",
            &["One two.", "Three four!", "Five?"][..],
        ),
        ("Mag. Weber came. He left", &["Mag. Weber came.", "He left"]),
        ("Dr. Weber came. He left", &["Dr. Weber came.", "He left"]),
        ("On 3. May it rained", &["On 3. May it rained"]),
        ("In 2024. Then more", &["In 2024.", "Then more"]),
        ("Since 12345. Then more", &["Since 12345. Then more"]),
        ("at example.org it is", &["at example.org it is"]),
        ("It was approx. two days", &["It was approx. two days"]),
        ("One line\nanother.\n\n---\n", &["One line", "another."]),
        (
            "\u{72ac}\u{3002}\u{732b}\u{ff01}\u{9ce5}\u{ff1f}\u{9b5a}",
            &[
                "\u{72ac}\u{3002}",
                "\u{732b}\u{ff01}",
                "\u{9ce5}\u{ff1f}",
                "\u{9b5a}",
            ],
        ),
        ("The end. ", &["The end."]),
    ] {
        assert_eq!(sentences(text), expected, "{text:?}");
    }
}

#[test]
fn sentences_beside_one_another_tell_of_the_same() {
    let words = [(word("fox", ""), 3.0), (word("hen", ""), 1.0)];
    is_near(
        share(&words, "The fox sleeps. A hen too.", ""),
        0.75 + 0.25 * 0.9,
    );
    is_near(
        share(&words, "A hen sleeps. The fox too.", ""),
        0.75 + 0.25 * 0.9,
    );
    // The fact is told by the sentence that stands beside.
    let hen = [(word("hen", ""), 1.0), (word("fox", ""), 1.0)];
    let told = |text: &str| tells(&hen, Traits::NUMBER, text, "").share;
    assert!(told("The fox and the hen. There are three, fox and hen.") > 0.9);
}

#[test]
fn evidence_what_stands_before_the_name_that_is_asked_for_is_of_somebody_else() {
    let words = [(name("ada"), 1.0), (word("fox", ""), 1.0)];
    is_near(share(&words, "Ada came. A fox slept.", ""), 0.5 + 0.5 * 0.9);
    // Neither sentence has the other's word.
    is_near(share(&words, "A fox slept. Ada came.", ""), 0.5);
    // Two before it tell of one another all the same.
    let three = [
        (name("ada"), 0.1),
        (word("fox", ""), 2.0),
        (word("hen", ""), 1.0),
    ];
    let before = share(&three, "A fox slept. A hen too. Ada came.", "");
    let apart = share(&three, "A fox slept. Ada came. A hen too.", "");
    assert!(before > apart, "{before} and {apart}");
    // Where the name stands above, all is told of it.
    is_near(
        share(&words, "A fox slept. Ada came.", "Ada"),
        0.5 + 0.5 * 0.9,
    );
}

fn of_english(words: &[&SearchWord], (text, above): (&str, &str), is_of_day: bool) -> Evidence {
    let words: Vec<(&SearchWord, f32)> = words.iter().map(|word| (*word, 1.0)).collect();
    let wanted = Wanted::new(&words, (Traits::default(), Sought::default())).with_day(Some(Day {
        name: "2026-11-20".to_owned(),
        key: term::key("day"),
    }));
    of(&wanted, (text, (above, is_of_day)), Language::English)
}

/// What is looked for in parts is half there with one of them.
#[test]
fn parts_of_one_word_stand_for_one_another() {
    let part = |own: &str, whole| SearchWord {
        whole,
        ..word(own, "")
    };
    let of = |first: &SearchWord, second: &SearchWord| {
        of_english(&[first, second], ("a plum", ""), false).share
    };
    let one = of(&part("plum", 7), &part("tree", 7));
    is_near(one, 1.0 / 1.5);
    is_near(of(&part("plum", 7), &part("tree", 8)), 0.5);
    is_near(of(&part("plum", 0), &part("tree", 0)), 0.5);
}

#[test]
fn day_that_is_asked_about_is_told_by_the_note_of_that_day() {
    let (fox, day) = (word("fox", ""), word("day", ""));
    let share = |is_of_day| of_english(&[&fox, &day], ("a fox", ""), is_of_day).share;
    is_near(share(true), 0.5 + 0.5 * 0.9);
    is_near(share(false), 0.5);
}

/// Where only its place says that a word is a name, one that is made of it will do.
#[test]
fn bare_name_is_found_in_longer_words() {
    let bare = |is_bare| SearchWord {
        is_bare,
        is_name: true,
        ..word("varroa", "varroatrap")
    };
    let of = |word: &SearchWord| of_english(&[word], ("varroatrap", ""), false).share;
    is_near(of(&bare(true)), 0.8);
    is_near(of(&bare(false)), 0.8 * NAMELESS);
    let both = of_english(&[&bare(true)], ("varroa, varroatrap", ""), false);
    is_near(both.share, 1.0);
    // And what is said before it is not told of somebody else.
    let fox = word("fox", "");
    let around = |is_bare| {
        let text = "A fox. Then varroa.";
        of_english(&[&bare(is_bare), &fox], (text, ""), false).share
    };
    assert!(around(true) > around(false));
}

#[test]
fn times_of_the_question_are_told_with_a_number_only() {
    let winter = SearchWord {
        plain: "winter".to_owned(),
        ..word("winter", "")
    };
    let concert = word("concert", "");
    let is_told = |text: &str| {
        let words = [(&winter, 1.0), (&concert, 1.0)];
        let wanted = Wanted::new(&words, (Traits::DATE, Sought::default()));
        of(&wanted, (text, ("", false)), Language::English).is_told
    };
    assert!(!is_told("Rupert plays at the winter concert"));
    assert!(is_told("The winter concert is on 12 December"));
    assert!(is_told("The concert, winter 2027") && is_told("The concert is in spring"));
}

/// Without "live" nothing is told of where somebody lives, though other verbs say little.
#[test]
fn verb_that_is_needed_is_missed_more_than_others() {
    let verb = |is_doing, is_needed| SearchWord {
        is_doing,
        is_needed,
        ..word("live", "")
    };
    let fox = word("fox", "");
    let missing = |verb: &SearchWord| of_english(&[&fox, verb], ("a fox", ""), false).share;
    let (needed, plain, doing) = (
        missing(&verb(true, true)),
        missing(&verb(false, false)),
        missing(&verb(true, false)),
    );
    assert!(
        needed < plain && plain < doing,
        "{needed}, {plain}, {doing}"
    );
    // So is the kind of thing that is asked for, where other words for it are known.
    let kind = |related| SearchWord {
        is_kind: true,
        ..word("breed", related)
    };
    assert!(missing(&kind("race")) < missing(&kind("")));
}

#[test]
fn evidence_what_the_writer_calls_theirs_is_not_of_who_is_asked_about() {
    let words = [(name("ada"), 1.0), (word("passport", ""), 1.0)];
    let share = |text: &str| share(&words, text, "");
    let of_ada = share("Ada called. The passport is in the drawer.");
    let of_writer = share("Ada called. My passport is in the drawer.");
    is_near(of_writer, of_ada * UNTOLD);
    // What is theirs is another thing.
    is_near(share("Ada called. The passport is in my drawer."), of_ada);
}

fn wanted(words: &[&SearchWord], asked: Traits, sought: Sought) -> Wanted {
    let words: Vec<(&SearchWord, f32)> = words.iter().map(|word| (*word, 1.0)).collect();
    Wanted::new(&words, (asked, sought))
}

fn tells_in(language: Language, words: &[&SearchWord], text: &str, above: &str) -> f64 {
    let wanted = wanted(words, Traits::default(), Sought::default());
    of(&wanted, (text, (above, false)), language).share
}

/// What a word that is missing counts, of which nothing is told; it weighs two beside a fox.
#[test]
fn evidence_what_is_missing_counts_by_what_the_word_is() {
    let fox = word("fox", "");
    let plain = || word("live", "");
    let share = |missing: SearchWord, asked: Traits, text: &str| {
        let words = [(&fox, 1.0), (&missing, 2.0)];
        let wanted = Wanted::new(&words, (asked, Sought::default()));
        of(&wanted, (text, ("", false)), Language::English).share
    };
    let missing = |word| 1.0 / share(word, Traits::default(), "a fox") - 1.0;
    is_near_to(missing(plain()), 2.0);
    let doing = SearchWord {
        is_doing: true,
        ..plain()
    };
    is_near_to(missing(doing), 2.0 * DOING.1);
    let needed = SearchWord {
        is_needed: true,
        ..plain()
    };
    is_near_to(missing(needed), 2.0 * KIND);
    let both = SearchWord {
        is_needed: true,
        is_doing: true,
        ..plain()
    };
    is_near_to(missing(both), 2.0 * KIND);
    let kind_and_needed = SearchWord {
        is_needed: true,
        is_kind: true,
        ..word("live", "dwell")
    };
    is_near_to(missing(kind_and_needed), 2.0 * KIND);
    is_near_to(missing(word("live", "dwell")), 2.0 * MISSING);
    let kind = |related| SearchWord {
        is_kind: true,
        ..word("breed", related)
    };
    is_near_to(missing(kind("")), 2.0);
    is_near_to(missing(kind("race")), 2.0 * KIND);
    // Where the number is told that is asked for, a verb counts less, and what names it nothing.
    let told = |word, text| 1.0 / share(word, Traits::NUMBER, text) - 1.0;
    let doing = || SearchWord {
        is_doing: true,
        ..plain()
    };
    is_near_to(told(doing(), "three fox"), 2.0 * DOING.0);
    let count = || SearchWord {
        fact: Traits::NUMBER,
        ..word("count", "")
    };
    is_near_to(told(count(), "three fox"), 0.0);
    let sought = || SearchWord {
        is_sought: true,
        ..word("number", "")
    };
    is_near_to(told(sought(), "three fox"), 0.0);
    let both = || SearchWord {
        is_sought: true,
        ..count()
    };
    is_near_to(told(both(), "three fox"), 0.0);
    // What the columns of a row are for is not known.
    is_near_to(told(sought(), "| 3 | fox |"), 2.0);
    is_near_to(told(plain(), "three fox"), 2.0);
}

fn is_near_to(found: f64, expected: impl Into<f64>) {
    let expected = expected.into();
    assert!(
        (found - expected).abs() < 1e-5,
        "{found} instead of {expected}"
    );
}

#[test]
fn name_is_there_once_it_is_in_any_sentence() {
    let (ada, fox) = (name("ada"), word("fox", ""));
    let share = |text: &str| tells_in(Language::English, &[&ada, &fox], text, "");
    is_near(share("Ada saw a fox. Ada slept."), 1.0);
    is_near(share("Ada slept. Ada woke, and a fox."), 1.0);
    is_near(share("A fox and Bob."), 0.5 * NAMELESS);
}

#[test]
fn evidence_what_a_sentence_names_itself_may_be_the_writers() {
    let (ada, passport) = (name("ada"), word("passport", ""));
    let share = |text: &str| tells_in(Language::English, &[&ada, &passport], text, "");
    is_near(share("Ada has my passport."), 1.0);
    is_near(share("My passport is here. Ada called."), 0.5 * NAMELESS);
    // No name is asked for.
    let own = tells_in(Language::English, &[&passport], "My passport is here.", "");
    is_near(own, 1.0);
}

/// In German a name is written as any noun is.
#[test]
fn evidence_what_is_somebodys_is_not_of_a_noun_that_is_missing() {
    let noun = |own: &str, related: &str| SearchWord {
        is_noun: true,
        ..word(own, related)
    };
    let stem = |word| analysis::stem(word, Language::German).into_owned();
    let size = noun(&stem("schuhgr\u{f6}\u{df}e"), "");
    let jonas = noun(&stem("jonas"), "");
    let share = |text: &str, above: &str| tells_in(Language::German, &[&size, &jonas], text, above);
    let of_other = "Katrins Schuhgr\u{f6}\u{df}e ist 38.";
    is_near(share(of_other, ""), 0.5 * UNTOLD);
    is_near(share("Die Schuhgr\u{f6}\u{df}e ist 38.", ""), 0.5);
    is_near(share(of_other, "Jonas"), 0.5 + 0.5 * f64::from(ABOVE));
    is_near(share("Jonas und Katrins Schuhgr\u{f6}\u{df}e.", ""), 1.0);
    // Not in other languages.
    let english = noun("passport", "");
    let text = "James passport is here.";
    is_near(
        tells_in(Language::English, &[&english, &noun("ada", "")], text, ""),
        0.5,
    );
}

#[test]
fn evidence_what_another_owns_is_not_told_of_the_one_who_is_asked_about() {
    let mut keys = Vec::new();
    analysis::words("\u{9774}", |word| match word {
        analysis::Word::Exact(word) | analysis::Word::Plain(word) => keys.push(term::key(word)),
    });
    let shoes = SearchWord {
        keys,
        ..word("", "")
    };
    let share = |text: &str, above: &str| {
        let wanted = wanted(&[&shoes], Traits::default(), Sought::default());
        let owner = ("\u{7f8e}\u{54b2}".to_owned(), "\u{9774}".to_owned());
        let wanted = wanted.with_owners(vec![owner]);
        of(&wanted, (text, (above, false)), Language::English).share
    };
    let other = "\u{5065}\u{592a}\u{306e}\u{9774}\u{306f}24";
    let own = "\u{7f8e}\u{54b2}\u{306e}\u{9774}\u{306f}24";
    assert!(share(other, "") < share(own, ""));
    is_near(
        share(other, "\u{7f8e}\u{54b2}"),
        share(own, "\u{7f8e}\u{54b2}"),
    );
}
