//! "Did you mean …?" for keys and names.

use strsim::osa_distance;

/// The known key nearest to `key`, when one is near enough to be a typing
/// mistake: at most a third of its letters are missing, too many, wrong, or
/// swapped with their neighbour.
pub fn nearest<'a>(key: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| {
            (
                osa_distance(&key.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| distance * 3 <= candidate.chars().count().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Asks whether the known name nearest to `name` was meant, when one is near enough.
pub fn question<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).map(|near| format!("did you mean {near:?}?"))
}

#[cfg(test)]
mod tests {
    use super::{nearest, question};

    #[test]
    fn finds_typing_mistakes_only() {
        let known = ["agents", "models", "gateway"];
        assert_eq!(nearest("agnets", known), Some("agents"));
        assert_eq!(nearest("Gateway", known), Some("gateway"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("modle", ["models", "model"]), Some("model"));
        assert_eq!(nearest("prot", ["port", "path"]), Some("port"));
    }

    #[test]
    fn question_is_asked_where_a_name_is_near() {
        let asked = question("gatway", ["agents", "gateway"]);
        assert_eq!(asked.as_deref(), Some("did you mean \"gateway\"?"));
        assert_eq!(question("colour", ["agents", "gateway"]), None);
    }

    #[test]
    fn third_of_the_letters_may_differ() {
        assert_eq!(nearest("abcdxx", ["abcdef"]), Some("abcdef"));
        assert_eq!(nearest("abcxxx", ["abcdef"]), None);
        assert_eq!(nearest("ax", ["ab"]), Some("ab"));
        assert_eq!(nearest("work", ["日本語の名前"]), None);
        assert_eq!(nearest("xy", ["ab"]), None);
        assert_eq!(
            nearest("abcdex", ["abxdex", "abcdef", "abcdey"]),
            Some("abxdex")
        );
    }
}
