//! What models call the tool of a server.

use openclaw_tools::catalog::SERVER_SEPARATOR;

/// The longest name that the model's providers take.
const LIMIT: usize = 64;

/// `SERVER__TOOL`, what providers do not take in it written as `_`; `None` when
/// it is too long.
pub(super) fn of(server: &str, tool: &str) -> Option<String> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            c
        } else {
            '_'
        }
    };
    let tool: String = tool.chars().map(plain).collect();
    let name = format!("{server}{SERVER_SEPARATOR}{tool}");
    (!tool.is_empty() && name.len() <= LIMIT).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_one_that_providers_take() {
        assert_eq!(of("files", "read").as_deref(), Some("files__read"));
        assert_eq!(of("a", "x.y/ž").as_deref(), Some("a__x_y__"));
        assert_eq!(of("a", ""), None);
        assert_eq!(of("a", &"x".repeat(62)), None);
    }
}
