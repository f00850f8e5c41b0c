use super::*;
use crate::document::Kind;
use crate::query::Parts;
use crate::search::Dated;

fn candidate(unit: usize, score: f64) -> Candidate {
    Candidate {
        live: 0,
        unit,
        score,
        parts: Parts::default(),
        is_close: false,
        dated: Dated {
            timestamp_ms: 0,
            ages: false,
        },
        kind: Kind::Note,
    }
}

/// A vector whose cosine to that of the angle 0 is the angle's.
fn vector(degrees: f32) -> Quantised {
    let radians = degrees.to_radians();
    Quantised::new(&[radians.cos(), radians.sin()])
}

/// The order in which all are chosen, by their units.
fn order(candidates: &[(f64, f32)], lambda: f64) -> Vec<usize> {
    let all = candidates.iter().zip(0..);
    let all = all.map(|((score, angle), unit)| (candidate(unit, *score), vector(*angle)));
    let mut pool = Pool::new(all, lambda);
    std::iter::from_fn(|| {
        let (next, vector) = pool.next()?;
        assert!(pool.choose(&format!("text {}", next.unit), &vector));
        Some(next.unit)
    })
    .collect()
}

#[test]
fn best_comes_first_and_of_equals_the_first() {
    let apart = [(0.5, 0.0), (0.9, 90.0), (0.9, 180.0), (0.1, 270.0)];
    assert_eq!(order(&apart, 0.7), [1, 2, 0, 3]);
    assert_eq!(order(&[], 0.7), [0_usize; 0]);
}

#[test]
fn diversity_what_is_like_what_was_chosen_comes_later() {
    // The second says nearly the same as the first.
    let alike = [(0.9, 0.0), (0.8, 2.0), (0.7, 90.0)];
    assert_eq!(order(&alike, 0.7), [0, 2, 1]);
    assert_eq!(order(&alike, 1.0), [0, 1, 2], "scores alone count");
    assert_eq!(order(&alike, 7.0), [0, 1, 2]);
    assert_eq!(order(&alike, -1.0), [0, 2, 1], "likeness alone counts");
    // Up to a cosine of 0.8 nothing is alike.
    let related = [(0.9, 0.0), (0.8, 40.0), (0.79, 90.0)];
    assert_eq!(order(&related, 0.5), [0, 1, 2]);
    // Like the most similar of all that were chosen, and not of the last.
    let two = [(0.9, 0.0), (0.85, 90.0), (0.8, 1.0), (0.2, 180.0)];
    assert_eq!(order(&two, 0.5), [0, 1, 3, 2]);
}

#[test]
fn likeness_goes_from_related_to_the_same() {
    let of = |degrees: f32| likeness(&vector(0.0), &vector(degrees));
    assert!(of(0.0) > 0.98 && of(90.0) == 0.0 && of(180.0) == 0.0);
    // The cosine of 25.84 degrees is 0.9: half of the way from 0.8.
    assert!((of(25.84) - 0.5).abs() < 0.05, "{}", of(25.84));
}

#[test]
fn text_is_chosen_once() {
    let mut pool = Pool::new(std::iter::empty(), 0.5);
    let none = vector(0.0);
    let words = |count: usize| -> String { (0..count).map(|n| format!("w{n} ")).collect() };
    assert!(pool.choose(&words(20), &none));
    assert!(
        !pool.choose(&words(20).to_uppercase(), &none),
        "in any case"
    );
    // 19 of 20 words are 0.95, which is not more.
    assert!(pool.choose(&words(19), &none));
    let mut more = Pool::new(std::iter::empty(), 0.5);
    assert!(more.choose(&words(40), &none));
    assert!(!more.choose(&words(39), &none));
}

#[test]
fn likeness_is_the_share_of_common_words() {
    let of = |a: &str, b: &str| jaccard(&words(a), &words(b));
    assert_eq!(of("red fox", "Red: FOX!"), 1.0);
    assert_eq!(of("red fox", "red hen"), 1.0 / 3.0);
    assert_eq!(of("red", "blue"), 0.0);
    assert_eq!(of("…", "!"), 1.0);
}
