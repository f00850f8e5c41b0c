//! People, as configurations and channels name them.

use openclaw_settings::keys::channels::PeerId;

/// The word for everybody.
const EVERYBODY: &str = "*";

/// Short names of channels that configurations have before an id.
const SHORT: [(&str, &str); 1] = [("telegram", "tg")];

/// Whether `written` is `id` on `channel`, which may stand before it. Names that
/// may change hands (`@name`) are nobody.
pub fn names(written: &PeerId, channel: &str, id: &str) -> bool {
    !id.is_empty() && bare(&written.to_string(), channel).as_deref() == Some(id)
}

/// Whether `list` has everybody.
pub fn has_everybody(list: &[PeerId]) -> bool {
    let everybody = PeerId::Text(EVERYBODY.to_owned());
    list.contains(&everybody)
}

/// Whether `list` names `id`, or everybody.
pub fn is_listed(list: &[PeerId], channel: &str, id: &str) -> bool {
    has_everybody(list) || list.iter().any(|written| names(written, channel, id))
}

/// The id without the channel's name before it; None: it is another channel's.
pub fn bare(written: &str, channel: &str) -> Option<String> {
    let written = written.trim();
    let Some((before, id)) = written.split_once(':') else {
        return Some(written.to_owned());
    };
    let before = before.to_ascii_lowercase();
    let is_short = SHORT.contains(&(channel, before.as_str()));
    (before == channel || is_short).then(|| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_is_named_by_its_id_with_or_without_its_channel() {
        let named = |written: &str| names(&PeerId::Text(written.to_owned()), "telegram", "42");
        for written in [
            "42",
            " 42 ",
            "tg:42",
            "TG:42",
            "telegram:42",
            "telegram: 42",
        ] {
            assert!(named(written), "{written}");
        }
        for written in ["", "4", "421", "@42", "ada", "slack:42", "tg:tg:42", "*"] {
            assert!(!named(written), "{written}");
        }
        assert!(names(&PeerId::Number(42), "telegram", "42"));
        assert!(!names(&PeerId::Text(String::new()), "telegram", ""));
    }
}
