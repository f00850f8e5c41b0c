//! Features of the Messages API that are no part of it yet, which a request
//! asks for by name and date: `context-1m-2025-08-07`.

use openclaw_settings::ProviderTool;

use super::Grants;

/// Those that change how the model reads and answers, and nothing else.
const HARMLESS: [&str; 20] = [
    "advanced-tool-use",
    "claude-code",
    "computer-use",
    "context-1m",
    "context-management",
    "effort",
    "extended-cache-ttl",
    "fine-grained-tool-streaming",
    "interleaved-thinking",
    "mid-conversation-system",
    "oauth",
    "output-128k",
    "prompt-caching",
    "prompt-caching-scope",
    "redact-thinking",
    "structured-outputs",
    "thinking-token-count",
    "token-counting",
    "token-efficient-tools",
    "tool-search-tool",
];
/// Those of tools that the provider runs.
const GRANTED: [(&str, ProviderTool); 7] = [
    ("code-execution", ProviderTool::CodeExecution),
    ("files-api", ProviderTool::Files),
    ("mcp-client", ProviderTool::Mcp),
    ("mcp-servers", ProviderTool::Mcp),
    ("skills", ProviderTool::CodeExecution),
    ("web-fetch", ProviderTool::WebFetch),
    ("web-search", ProviderTool::WebSearch),
];

/// Whether a request may ask for it. What does not pass is left out, which
/// programs have to expect of an older API.
pub fn passes(beta: &str, grants: &Grants) -> bool {
    let Some(name) = without_date(beta) else {
        return false;
    };
    let mut granted = GRANTED.iter();
    grants.has_all()
        || HARMLESS.contains(&name)
        || granted.any(|(known, tool)| *known == name && grants.has(*tool))
}

/// The name before `-2025-08-07` or `-20250807`; `None`: it has no date, or
/// characters that no feature has.
fn without_date(beta: &str) -> Option<&str> {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    if !beta.bytes().all(allowed) {
        return None;
    }
    let mut at = beta.len();
    let mut digits = 0;
    for byte in beta.bytes().rev() {
        match byte {
            b'0'..=b'9' if digits < 8 => digits += 1,
            b'-' if matches!(digits, 2 | 4) => {}
            _ => break,
        }
        at -= 1;
    }
    beta[..at].strip_suffix('-').filter(|_| digits == 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_passes_by_its_name_and_with_a_date() {
        let nothing = Grants::default();
        for beta in [
            "claude-code-20250219",
            "context-1m-2025-08-07",
            "interleaved-thinking-2025-05-14",
            "output-128k-2025-02-19",
            "oauth-2025-04-20",
        ] {
            assert!(passes(beta, &nothing), "{beta}");
        }
        for beta in [
            "web-fetch-2025-09-10",
            "code-execution-2025-08-25",
            "files-api-2025-04-14",
            "mcp-client-2025-11-20",
            "skills-2025-10-02",
            "fast-mode-2026-02-01",
            "claude-code",
            "Claude-code-20250219",
            "claude-code-20250219 ,web-fetch-2025-09-10",
            "",
            "-2025-08-07",
        ] {
            assert!(!passes(beta, &nothing), "{beta}");
        }
        let fetch = Grants::only(&[ProviderTool::WebFetch], &[]);
        assert!(passes("web-fetch-2025-09-10", &fetch));
        assert!(!passes("web-search-2025-03-05", &fetch));
        assert!(passes("anything-2030-01-01", &Grants::everything()));
    }
}
