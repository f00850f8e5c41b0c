//! What a reply took, in a line below it.

use std::time::Duration;

use openclaw_proto::shown::Used;

use super::summary::Summary;

/// The time of a reply that nobody has to be told of.
const SHORT: Duration = Duration::from_secs(3);

/// The line, as the session wants it; nothing where it was nothing to speak of.
pub(super) fn line(
    summary: &Summary,
    time: Duration,
    calls: usize,
    wanted: Used,
) -> Option<String> {
    let usage = summary.usage();
    let tokens = usage.input + usage.cache_read + usage.cache_write + usage.output;
    let is_little = tokens == 0 && calls == 0 && time < SHORT;
    if wanted == Used::Hidden || is_little {
        return None;
    }
    let mut parts = vec![format!("{:.1} s", time.as_secs_f64())];
    match calls {
        0 => {}
        1 => parts.push("1 call of a tool".to_owned()),
        more => parts.push(format!("{more} calls of tools")),
    }
    if tokens > 0 {
        let read = usage.input + usage.cache_read + usage.cache_write;
        parts.push(format!("{read} tokens in, {} out", usage.output));
    }
    let cost = summary.cost_usd().filter(|cost| *cost > 0.0);
    if let Some(cost) = cost.filter(|_| wanted != Used::Tokens) {
        parts.push(format!("${cost:.4}"));
    }
    Some(parts.join(" · "))
}

/// Whether the session asked for the line, so that it is told where nobody looks on too.
pub(super) fn is_asked_for(wanted: Used) -> bool {
    matches!(wanted, Used::Tokens | Used::WithCost)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::{Event, Kind, Resources, Usage};

    use super::*;

    #[test]
    fn spent_is_said_as_the_session_wants_it() {
        let mut summary = Summary::default();
        let line = |summary: &Summary, wanted| line(summary, Duration::from_secs(1), 1, wanted);
        assert_eq!(
            line(&summary, Used::AsAsked).unwrap(),
            "1.0 s · 1 call of a tool"
        );
        let usage = Kind::Usage(Usage {
            input: 10,
            output: 2,
            ..Usage::default()
        });
        let cost = Kind::Resources(Resources {
            cost_usd: Some(0.5),
            ..Resources::default()
        });
        for kind in [usage, cost] {
            summary.observe(&Event {
                run_id: "r".to_owned(),
                seq: 1,
                at_ms: 0,
                kind,
            });
        }
        let tokens = "1.0 s · 1 call of a tool · 10 tokens in, 2 out";
        for (wanted, expected) in [
            (Used::AsAsked, Some(format!("{tokens} · $0.5000"))),
            (Used::WithCost, Some(format!("{tokens} · $0.5000"))),
            (Used::Tokens, Some(tokens.to_owned())),
            (Used::Hidden, None),
        ] {
            assert_eq!(line(&summary, wanted), expected, "{wanted:?}");
        }
    }
}
