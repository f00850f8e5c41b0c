//! How much a session wants its model to think.

/// Tokens by level, as OpenClaw gives them to the Claude Code CLI
/// (reference §5.3); both backends mean the same by a level.
const BUDGETS: [(&str, u32); 8] = [
    ("off", 0),
    ("minimal", 1024),
    ("low", 2048),
    ("medium", 8192),
    ("high", 16_384),
    ("xhigh", 16_384),
    ("max", 32_768),
    ("ultra", 32_768),
];

/// The tokens a model may think for at `level`; None for levels that leave it to the model.
pub(crate) fn budget(level: Option<&str>) -> Option<u32> {
    let level = level?;
    let known = BUDGETS.iter().find(|(name, _)| *name == level);
    known.map(|(_, tokens)| *tokens)
}

/// OpenAI's word for `level`; None where it has none.
pub(crate) fn effort(level: Option<&str>) -> Option<&'static str> {
    match level? {
        "minimal" => Some("minimal"),
        "low" => Some("low"),
        "medium" => Some("medium"),
        "high" | "xhigh" | "max" | "ultra" => Some("high"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_tokens_and_words() {
        assert_eq!(budget(Some("off")), Some(0));
        assert_eq!(budget(Some("low")), Some(2048));
        assert_eq!(budget(Some("adaptive")), None);
        assert_eq!(budget(None), None);
        assert_eq!(effort(Some("xhigh")), Some("high"));
        assert_eq!(effort(Some("off")), None);
    }
}
