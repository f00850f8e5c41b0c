//! What age takes from a score.

const DAY_MS: f64 = 86_400_000.0;

/// From 1 for today towards `floor`, half of the way after the half-life.
///
/// A hyperbola, not an exponential: that one is flat to the last bit after a
/// year of half-lives of a week, and of two old notes the newer could not be
/// told (seed 002, property 12).
pub(super) fn factor(age_ms: i64, half_life_days: f64, floor: f64) -> f64 {
    let floor = floor.clamp(0.0, 1.0);
    let age = (age_ms as f64 / DAY_MS).max(0.0);
    let half_life = half_life_days.max(f64::MIN_POSITIVE);
    floor + (1.0 - floor) * half_life / (half_life + age)
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn half_is_taken_after_the_half_life_and_the_floor_holds() {
        let days = |days: f64| (days * super::DAY_MS) as i64;
        assert_eq!(factor(0, 7.0, 0.9), 1.0);
        assert!((factor(days(7.0), 7.0, 0.9) - 0.95).abs() < 1e-12);
        assert!(factor(days(1e6), 7.0, 0.9) >= 0.9);
        assert_eq!(factor(days(-3.0), 7.0, 0.9), 1.0);
        assert!(factor(days(1.0), 0.0, 0.9) >= 0.9);
        assert_eq!(factor(days(400.0), 7.0, 1.0), 1.0);
    }
}
