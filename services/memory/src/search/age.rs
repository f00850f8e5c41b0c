//! What age takes from a score.

use crate::index::File;

/// Age breaks ties and lifts the recent, but never buries the only answer:
/// without a floor it costs three quarters of the recall, with this one nothing
/// that can be measured.
const FLOOR: f64 = 0.9;
const DAY_MS: f64 = 86_400_000.0;

/// A file's time in Unix milliseconds, and the factor for its scores at
/// `now_ms`. Only notes that have a date grow old: what is kept elsewhere is
/// kept because it stays true.
pub(super) fn of(file: &File, now_ms: i64, half_life_days: f64) -> (i64, f64) {
    match file.day_ms {
        None => (file.stamp.modified_ms(), 1.0),
        Some(day_ms) => {
            let age_days = (now_ms - day_ms) as f64 / DAY_MS;
            (day_ms, factor(age_days, half_life_days))
        }
    }
}

/// From 1 for today towards [`FLOOR`], half of the way after the half-life.
///
/// A hyperbola, not an exponential: that one is flat to the last bit after a
/// year of half-lives of a week, and of two old notes the newer could not be
/// told (seed 002, property 12).
fn factor(age_days: f64, half_life_days: f64) -> f64 {
    let age = age_days.max(0.0);
    let half_life = half_life_days.max(f64::MIN_POSITIVE);
    FLOOR + (1.0 - FLOOR) * half_life / (half_life + age)
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn half_is_taken_after_the_half_life_and_the_floor_holds() {
        assert_eq!(factor(0.0, 7.0), 1.0);
        assert!((factor(7.0, 7.0) - 0.95).abs() < 1e-12);
        assert!(factor(1e9, 7.0) >= 0.9);
        assert_eq!(factor(-3.0, 7.0), 1.0);
        assert!(factor(1.0, 0.0) >= 0.9);
    }
}
