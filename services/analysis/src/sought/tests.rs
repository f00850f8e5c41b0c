use super::*;

fn is_in(question: &str, sentence: &str, own: &[&str]) -> bool {
    let text = (sentence, Language::English);
    sought(question).is_in(text, |word| own.contains(&word))
}

#[test]
fn wants_are_told_by_how_it_is_put() {
    for (text, wanted) in [
        ("Who has the key?", Sought::PERSON),
        ("Wo liegt der Pass?", Sought::PLACE),
        ("¿Por qué no arranca?", Sought::REASON),
        ("Comment s'appelle le chien ?", Sought::NAME),
        ("¿De qué color es?", Sought::COLOUR),
        ("鍵はどこ?", Sought::PLACE),
    ] {
        assert_eq!(sought(text), wanted, "{text}");
    }
    assert!(sought("What is the price of the book that the man who left wrote?").is_empty());
}

#[test]
fn sought_ages_are_told_by_years() {
    let told = |sentence| is_in("How old is Minka?", sentence, &["Minka"]);
    assert!(told("Minka was born on 3 May 2019") && told("Minka is seven years old"));
    assert!(told("Minka ist 7 Jahre alt") && told("ミンカは7歳"));
    assert!(!told("Minka's birthday dinner is on the 28th"));
    assert!(!told("Minka was vaccinated on 3 May 2019"));
    assert_eq!(sought_words("What colour is it?"), ["what", "colour"]);
    assert!(sought_words("What is it called?").is_empty());
}

#[test]
fn trades_are_told_by_their_words() {
    let told = |sentence| is_in("What does Ida do for work?", sentence, &["Ida"]);
    assert!(told("Ida, part-time bookkeeper, 2004") && !told("Ida, part-time, 2004"));
}

#[test]
fn permission_is_told_by_what_may_and_may_not_be_done() {
    for question in [
        "Can I bring the dog?",
        "Darf man grillen?",
        "¿Se puede aparcar?",
        "犬を連れて行くのは大丈夫？",
    ] {
        assert!(sought(question).has(Sought::PERMISSION), "{question}");
    }
    assert!(!sought("Who can bring the dog?").has(Sought::PERMISSION));
    assert!(tells_permission("Dogs not allowed") && tells_permission("火気厳禁、犬は不可"));
    assert!(!tells_permission("The cottage has a garden"));
}

#[test]
fn colours_are_asked_for_in_compounds_too() {
    assert!(sought("Welche Augenfarbe hat Ida?").has(Sought::COLOUR));
    assert!(is_in(
        "De quelle couleur est le chat ?",
        "un chat roux",
        &[]
    ));
}

#[test]
fn row_is_of_whom_its_first_cell_names() {
    let of_another = |row| is_row_of_another(row, Traits::DATE, |word| word == "Ida");
    assert!(of_another("| Emre | 2 April | his wife is Ida |"));
    assert!(!of_another("| Ida | 2 April | his wife |"));
    assert!(!of_another("| Piano | 2 April | Ida |"));
    assert!(!of_another("| Emre | 2 April | Ida, 3 May |"));
    assert!(!of_another("Emre, 2 April, his wife is Ida"));
    assert!(!is_row_of_another(
        "| Emre | his wife is Ida |",
        Traits::default(),
        |word| word == "Ida"
    ));
}

#[test]
fn sought_years_are_told_by_a_year() {
    for question in [
        "What year was it built?",
        "In welchem Jahr?",
        "母は何年生まれ？",
    ] {
        assert!(sought(question).has(Sought::YEAR), "{question}");
        assert!(is_in(question, "built in 1964", &[]), "{question}");
        assert!(is_in(question, "it was last year", &[]));
        assert!(is_in(question, "昭和39年", &[]));
        assert!(!is_in(question, "on 27 March", &[]), "{question}");
        assert!(!is_in(question, "| Mum | 27 March |", &[]), "{question}");
    }
    assert!(!sought("陸は何年生？").has(Sought::YEAR));
}

#[test]
fn somebody_and_what_is_called_are_told_by_names() {
    let own = &["ladder", "Kanarienvogel", "Steuerberater"];
    assert!(is_in(
        "Who has the ladder?",
        "Gave the ladder to Benedikt",
        own
    ));
    assert!(!is_in("Who has the ladder?", "the ladder on Monday", own));
    assert!(is_in("Who has the ladder?", "It has the ladder", own));
    assert!(!is_in(
        "Wie heißt der Kanarienvogel?",
        "Den Kanarienvogel nimmt Tante Gerti",
        own
    ));
    assert!(is_in(
        "Wie heißt der Steuerberater?",
        "ab Dezember ist Konstantin Rauch unser Steuerberater",
        own
    ));
    assert!(is_in("Who has the ladder?", "| ladder | Rosa |", own));
    assert!(!is_in(
        "Who has the ladder?",
        "| ladder | 3 September |",
        own
    ));
}

#[test]
fn places_are_told_by_where_something_went() {
    let told = |sentence| is_in("Where is it?", sentence, &[]);
    assert!(told("Brought it to Kellner's") && told("it moved to 22 Station Road"));
    assert!(told("went to the Lindqvists") && !told("he is allergic to walnuts"));
}

#[test]
fn spans_are_told_by_what_is_measured() {
    let told = |sentence| is_in("How long is the boat?", sentence, &["boat"]);
    assert!(told("6.2 m of boat") && told("the boat trip takes two hours"));
    assert!(!told("mooring of the boat: 420 a year") && !told("hours until noon"));
}

#[test]
fn trades_are_told_by_what_somebody_is() {
    let told = |sentence| is_in("What is Emre's job?", sentence, &["Emre"]);
    assert!(told("Emre ist Goldschmied") && told("Emre is a baker"));
    assert!(told("Emre est menuisier") && !told("Emre est né le 2 mai"));
    assert!(!told("Emre is ill") && !told("Emre ist müde"));
}

#[test]
fn colours_may_have_names_of_their_own() {
    let told = |sentence| is_in("Which colour is the hall?", sentence, &["hall"]);
    assert!(told("Paint of the hall: \"Stone 4\"") && !told("Plan of the hall: tidy up"));
}

#[test]
fn sought_one_of_a_kind_is_named_beside_it() {
    let role = |word: &str| Role {
        is_asked: ["School", "Firma", "class", "beagle", "Jonah"].contains(&word),
        is_kind: word == "School" || word == "Firma",
        is_one: word == "class" || word == "beagle",
    };
    let names_one = |text: &str| names_one((text, Language::English), role);
    assert!(!names_one("School trip to Linz on Friday"));
    assert!(!names_one("Jonah's class teacher is ill"));
    assert!(names_one("a beagle, born in May") && names_one("a beagle"));
    assert!(names_one("The pump is of Firma Ochsner"));
    assert!(names_one("School: Linz") && names_one("School in town is number 7"));
    assert!(!names_one("School in town is on Friday"));
}

#[test]
fn reasons_and_places_are_told_by_what_stands_before_them() {
    assert!(is_in("Why not?", "we do not, because it is old", &[]));
    assert!(!is_in("Why not?", "we do not", &[]));
    assert!(is_in("Where is it?", "It lies under the bed", &[]));
    assert!(!is_in("Where is it?", "It has a lid", &[]));
    assert!(!is_in("Welche Farbe hat es?", "Es ist neu", &[]));
    assert!(is_in("Welche Farbe hat es?", "Es ist grün", &[]));
}
