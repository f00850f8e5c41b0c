//! Weights that fit questions of which the answers are known.
//!
//! What answers is to be more likely than what does not, where the likelihoods
//! are the softmax of the scores (ListNet; Cao et al., 2007). No weight is below
//! zero: every list is one in which more is better.

use openclaw_retrieval::{LISTS, Weights};

use crate::set::Choices;

/// Steps of the descent (Adam; Kingma and Ba, 2015), after which no weight changes
/// by a hundredth of all.
const STEPS: i32 = 200;
/// How far one goes,
const RATE: f64 = 0.2;
/// and how much it remembers of those before, and of their squares.
const MEMORY: (f64, f64) = (0.9, 0.99);
/// What large weights cost: without it the last questions decide.
const COST: f64 = 1e-3;

/// Of one candidate.
type Lists = [f64; LISTS];

/// Weights for `questions` that together are 1.
pub(crate) fn weights<'a>(questions: impl Iterator<Item = &'a Choices>) -> Weights {
    let questions: Vec<Vec<(Lists, bool)>> = questions
        .filter(|choices| choices.iter().any(|(_, answers)| *answers))
        .map(|choices| {
            let pairs = choices.iter();
            pairs
                .map(|(parts, answers)| (parts.lists(), *answers))
                .collect()
        })
        .collect();
    let mut weights: Lists = [1.0; LISTS];
    let (mut slope, mut square): (Lists, Lists) = ([0.0; LISTS], [0.0; LISTS]);
    for step in 1..=STEPS {
        let gradient = gradient(&questions, &weights);
        let memories = slope.iter_mut().zip(&mut square);
        for ((weight, own), (slope, square)) in weights.iter_mut().zip(gradient).zip(memories) {
            *slope += (1.0 - MEMORY.0) * (own - *slope);
            *square += (1.0 - MEMORY.1) * (own * own - *square);
            let along = *slope / (1.0 - MEMORY.0.powi(step));
            let size = (*square / (1.0 - MEMORY.1.powi(step))).sqrt();
            *weight = (*weight - RATE * along / (size + f64::EPSILON)).max(0.0);
        }
    }
    let all: f64 = weights.iter().sum();
    Weights::new(weights.map(|weight| weight / all))
}

/// How the loss changes with each weight.
fn gradient(questions: &[Vec<(Lists, bool)>], weights: &Lists) -> Lists {
    let mut gradient: Lists = weights.map(|weight| weight * COST);
    for choices in questions {
        let score = |lists: &Lists| -> f64 { lists.iter().zip(weights).map(|(x, w)| x * w).sum() };
        let scores: Vec<f64> = choices.iter().map(|(lists, _)| score(lists)).collect();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let likely: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let all: f64 = likely.iter().sum();
        let answers = choices.iter().filter(|(_, answers)| *answers).count() as f64;
        for ((lists, is_answer), likely) in choices.iter().zip(likely) {
            let wanted = if *is_answer { 1.0 / answers } else { 0.0 };
            let off = (likely / all - wanted) / questions.len() as f64;
            for (sum, x) in gradient.iter_mut().zip(lists) {
                *sum += off * x;
            }
        }
    }
    gradient
}

#[cfg(test)]
mod tests {
    use openclaw_retrieval::Parts;

    use super::*;

    #[test]
    fn weights_follow_the_list_that_tells() {
        let choice = |words: f64, text: f64| Parts {
            words,
            text,
            ..Parts::default()
        };
        let question = vec![
            (choice(0.9, 0.2), true),
            (choice(0.3, 0.9), false),
            (choice(0.1, 0.4), false),
        ];
        let fitted = weights([question.clone(), question].iter());
        assert!(fitted.words > 0.5 && fitted.text < 0.1, "{fitted:?}");
    }
}
