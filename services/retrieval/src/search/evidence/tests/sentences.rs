//! What one sentence tells, and what those beside it do.

use super::*;

/// "Opens" and "closes" are both of the hours, and so near to each other.
#[test]
fn opposite_of_what_is_asked_is_no_answer() {
    let opens = SearchWord {
        opposites: vec![term::key("close")],
        ..word("open", "close")
    };
    let shop = word("shop", "");
    let share =
        |text: &str, above: &str| tells_in(Language::English, &[&opens, &shop], text, above);
    is_near(share("the shop closes", ""), 0.9 * UNTOLD);
    is_near(share("the shop opens", ""), 1.0);
    is_near(share("the shop opens and closes", ""), 1.0);
    is_near(share("the shop opens and closes", "open"), 1.0);
    is_near(
        share("the shop closes", "open"),
        0.9 + 0.1 * f64::from(ABOVE),
    );
}

#[test]
fn water_tank_is_not_the_diesel_tank() {
    let diesel = SearchWord {
        head: Some("tank".to_owned()),
        ..word("diesel", "")
    };
    let tank = word("tank", "");
    let share =
        |text: &str, above: &str| tells_in(Language::English, &[&diesel, &tank], text, above);
    is_near(share("the water tank holds 90", ""), 0.5 * UNTOLD);
    is_near(share("the water tanks hold 90", ""), 0.5 * UNTOLD);
    is_near(share("the tank holds 90", ""), 0.5);
    is_near(share("the diesel tank beside the water tank", ""), 1.0);
    is_near(
        share("the water tank holds 90", "diesel"),
        0.5 + 0.5 * f64::from(ABOVE),
    );
}

#[test]
fn sentence_without_any_word_answers_where_it_refers_back() {
    let hen = word("hen", "");
    let told = |text: &str| {
        let wanted = wanted(&[&hen], Traits::NUMBER, Sought::default());
        of(&wanted, (text, ("", false)), Language::English).share
    };
    is_near(
        told("A hen. There are seven cats."),
        f64::from(ABOVE) * APART,
    );
    is_near(told("A hen. They have seven legs."), f64::from(ABOVE));
}

#[test]
fn reason_may_be_told_by_the_sentence_after() {
    let hen = word("hen", "");
    let is_told = |text: &str, sought| {
        let wanted = wanted(&[&hen], Traits::default(), sought);
        of(&wanted, (text, ("", false)), Language::English).is_told
    };
    let after = "The hen stayed. Because it rained.";
    assert!(is_told(after, Sought::REASON));
    assert!(!is_told("The hen stayed. It rained.", Sought::REASON));
    assert!(is_told("Because it rained the hen stayed.", Sought::REASON));
    // Who somebody is, the sentence itself has to tell.
    let wanted = wanted(&[&hen], Traits::default(), Sought::PERSON);
    let share = |text| of(&wanted, (text, ("", false)), Language::English).share;
    is_near(share("Weber has the hen."), 1.0);
    is_near(share("A hen is here. It was Weber."), ABOVE.into());
    // Where nothing is wanted, nothing is told.
    assert!(!is_told(after, Sought::default()));
}

#[test]
fn amount_is_told_by_money_and_a_count_by_a_number_that_is_no_day() {
    let hen = word("hen", "");
    let is_told = |asked: Traits, text: &str| {
        let wanted = wanted(&[&hen], asked, Sought::default());
        of(&wanted, (text, ("", false)), Language::English).is_told
    };
    assert!(is_told(Traits::NUMBER, "We have 12 hens"));
    assert!(!is_told(Traits::NUMBER, "The hens came on 3 December"));
    // What the one number of money is, nothing else is.
    assert!(!is_told(Traits::NUMBER, "The hens cost 30 euros"));
    assert!(is_told(Traits::NUMBER, "The 12 hens cost 30 euros"));
    assert!(is_told(Traits::NUMBER, "Of 20 hens 12 cost 30 euros"));
    // A price is a number of something else than of what is bought.
    let cost = Traits::AMOUNT.with(Traits::MONEY);
    for (text, tells) in [
        ("40 hens came", false),
        ("40 old hens came", false),
        ("The hens were 40", true),
        ("hens 40 each", true),
        ("40 for all of the hens", true),
        ("The 12 hens were 40", true),
        ("The hens: ~40", true),
        ("40 hens for fifty euros", true),
        ("The hens were dear", false),
    ] {
        assert_eq!(is_told(cost, text), tells, "{text}");
    }
    assert!(is_told(
        Traits::NUMBER.with(Traits::DATE),
        "The hens came on 3 December"
    ));
    let price = Traits::NUMBER.with(Traits::MONEY);
    assert!(is_told(price, "The hens cost 30 euros"));
    assert!(!is_told(price, "The hens are old") && !is_told(Traits::DATE, "The hens are old"));
    assert!(!is_told(Traits::DATE, "We have twelve old hens"));
}

#[test]
fn time_of_the_question_is_told_by_a_number_on_either_side() {
    let winter = SearchWord {
        plain: "winter".to_owned(),
        ..word("winter", "")
    };
    let facts = |text: &str| {
        let wanted = wanted(&[&winter], Traits::DATE, Sought::default());
        wanted
            .facts_in(text, Language::English)
            .meets(Traits::RELATIVE.with(Traits::DATE))
    };
    assert!(facts("the 7 winter days") && facts("winter 7 of them") && facts("in spring"));
    assert!(
        !facts("winter, in the hall of 90 seats") && !facts("winter") && !facts("a winter hall")
    );
    let none = wanted(&[&word("fox", "")], Traits::DATE, Sought::default());
    assert!(
        none.facts_in("winter", Language::English)
            .meets(Traits::RELATIVE.with(Traits::DATE))
    );
}

/// The fact may stand in a sentence before or after, if that has to do with the question too.
#[test]
fn fact_may_be_told_by_the_sentence_beside() {
    let words = [(word("fox", ""), 3.0), (word("hen", ""), 1.0)];
    let told = |text: &str| tells(&words, Traits::DATE, text, "").share;
    is_near(told("The fox and the hen. On Friday hens."), 1.0);
    is_near(told("On Friday hens. The fox and the hen."), 1.0);
    is_near(told("The fox and the hen. On Friday cats."), UNTOLD);
    let second = 0.25 + 0.75 * f64::from(ABOVE);
    is_near_to(
        told("The fox and the hen. Then none. On Friday hens."),
        second,
    );
}

#[test]
fn sentence_beside_is_shown_for_a_fact_only_where_it_is_missing() {
    let filler = "Nothing of all this has to do with what anybody asked for today. ".repeat(4);
    let fox = [(word("fox", ""), 3.0)];
    let answer = |text: &str| tells(&fox, Traits::NUMBER, text, "").answer;
    let both = format!("{filler}The 3 foxes sleep. Then come 7 others. {filler}");
    assert_eq!(answer(&both), "The 3 foxes sleep.");
    let second = format!("{filler}So it was then. The 3 foxes sleep. {filler}");
    assert_eq!(answer(&second), "The 3 foxes sleep.");
    let lines = "The fox sleeps.\nNothing else.";
    assert_eq!(answer(lines), "The fox sleeps.", "of two lines one");
    assert_eq!(
        answer("The fox sleeps. Nothing else."),
        "The fox sleeps. Nothing else."
    );
    assert_eq!(answer("---\n***"), "---\n***", "no sentence");
}

#[test]
fn best_of_equal_sentences_is_the_first() {
    let filler = "Nothing of all this has to do with what anybody asked for today. ".repeat(4);
    let text = format!("The fox woke. {filler}The fox slept. {filler}");
    let fox = [(word("fox", ""), 3.0)];
    assert_eq!(
        tells(&fox, Traits::default(), &text, "").answer,
        "The fox woke."
    );
}

#[test]
fn day_stands_once_though_it_is_above_as_well() {
    let (fox, day) = (word("fox", ""), word("day", ""));
    let share = of_english(&[&fox, &day], ("a fox", "day"), true).share;
    is_near(share, 0.5 + 0.5 * f64::from(ABOVE));
}

/// "Which school": a note has to say which, and not only that there is one.
#[test]
fn kind_that_is_asked_for_is_named() {
    let school = SearchWord {
        is_kind: true,
        ..word("school", "")
    };
    let cake = word("cake", "");
    let is_told = |text: &str| {
        let wanted = wanted(&[&school, &cake], Traits::NUMBER, Sought::default());
        of(&wanted, (text, ("", false)), Language::English).is_told
    };
    assert!(is_told("There were 3 cakes at Linz school"));
    assert!(!is_told("There were 3 cakes on the school trip"));
}
