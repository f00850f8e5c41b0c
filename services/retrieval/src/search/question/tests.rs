use super::*;
use crate::search::sample::snapshot as snapshot_of;

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
