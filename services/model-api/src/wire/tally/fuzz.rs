//! Answers of a model, as they are counted and charged.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use openclaw_prices::{Price, Rates};

use super::*;
use crate::bill::{Bill, Budget, Estimate, MOST_TOKENS};
use crate::fuzz::number;

const APIS: [Api; 4] = [Api::Anthropic, Api::Bedrock, Api::Responses, Api::Chat];
const FORMS: [Form; 4] = [Form::Whole, Form::Events, Form::Frames, Form::Opaque];

/// Bytes of the request.
const ASKED: usize = 300;
/// The most tokens that it lets the model write.
const MOST: u64 = 5000;
/// What the provider says in the end.
const SAID: u64 = 4321;
/// US dollars for a million tokens of any kind.
const DOLLARS: f64 = 0.5;

/// Two bytes that choose the API, the form and where the answer is cut, and
/// any answer. It is counted the same however it is cut; what it costs follows
/// from what was counted; what events tell of it is the most that it was; and in
/// a stream of events nothing keeps the provider's last word from being read.
pub fn usage_meter(bytes: &[u8]) {
    let (choice, answer) = number(bytes);
    let (api, form) = (APIS[choice % 4], FORMS[(choice >> 2) % 4]);
    let size = (choice >> 4) % 64 + 1;
    let whole = read(api, form, [answer]);
    assert_eq!(read(api, form, answer.chunks(size)), whole, "{size}");
    assert_eq!(read(api, form, answer.chunks(1)), whole);
    check(form, &whole, answer);
    if form == Form::Events {
        let stream = [answer, b"\n\ndata: ", last_word(api).as_bytes(), b"\n\n"].concat();
        let known = read(api, form, stream.chunks(size)).reported;
        assert!(known.is_whole && known.usage.output >= SAID, "{known:?}");
    }
}

#[derive(Debug, PartialEq)]
struct Read {
    usage: Usage,
    reported: Reported,
}

/// Counts an answer and charges it as it comes.
fn read<'a>(api: Api, form: Form, pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let bill = Arc::new(bill());
    let asked = Estimate {
        input: tokens_of(ASKED),
        most_output: MOST,
        price: Some(price()),
    };
    let charge = bill
        .admit(&asked)
        .now_or_never()
        .expect("nothing is under way");
    let charge = charge.expect("nothing is used up");
    let mut tally = Tally::new(api, form, ASKED, Some(MOST));
    let (mut told, mut most) = (Usage::default(), Usage::default());
    let mut note = |usage: Usage| {
        charge.see(usage);
        let news = bill.untold().unwrap_or_default();
        told = each(told, news, |told, news| told + news);
        most = each(most, bounded(usage), u64::max);
    };
    note(tally.usage());
    for piece in pieces {
        tally.feed(piece);
        note(tally.usage());
    }
    tally.end();
    let usage = tally.usage();
    note(usage);
    assert_eq!(told, most);
    // Otherwise it costs more the longer it took.
    charge.end();
    drop(charge);
    let charged = bounded(usage);
    let tokens = charged.input + charged.output + charged.cache_read + charged.cache_write;
    let cost = bill.cost().expect("the price is known");
    // In floating point, added in another order.
    let wanted = tokens as f64 * DOLLARS / 1e6;
    assert!((cost - wanted).abs() <= wanted * 1e-9, "{cost} {wanted}");
    Read {
        usage,
        reported: tally.reported,
    }
}

fn check(form: Form, read: &Read, answer: &[u8]) {
    let Read { usage, reported } = read;
    let known = reported.usage;
    assert!(reported.has_input || usage.input >= tokens_of(ASKED));
    assert!(usage.output <= known.output.max(MOST));
    assert!(!reported.is_whole || usage.output == known.output);
    // Lengths that are all ones are no message's.
    let is_broken = answer.starts_with(&[0xff; 8]);
    let counted = match form {
        Form::Opaque => answer.len() as u64,
        Form::Frames if !is_broken => 0,
        Form::Whole | Form::Frames => tokens_of(answer.len()),
        Form::Events => 0,
    };
    assert!(reported.is_whole || usage.output >= counted.min(MOST));
    if matches!(form, Form::Whole | Form::Events) && known.output > 0 {
        let text = String::from_utf8_lossy(answer);
        assert!(text.contains(&known.output.to_string()), "{known:?}");
    }
}

fn last_word(api: Api) -> String {
    match api {
        Api::Anthropic | Api::Bedrock => format!(r#"{{"usage":{{"output_tokens":{SAID}}}}}"#),
        Api::Responses => {
            format!(r#"{{"response":{{"usage":{{"input_tokens":1,"output_tokens":{SAID}}}}}}}"#)
        }
        Api::Chat => {
            format!(r#"{{"usage":{{"prompt_tokens":1,"completion_tokens":{SAID}}}}}"#)
        }
    }
}

fn each(one: Usage, other: Usage, of: impl Fn(u64, u64) -> u64) -> Usage {
    Usage {
        input: of(one.input, other.input),
        output: of(one.output, other.output),
        cache_read: of(one.cache_read, other.cache_read),
        cache_write: of(one.cache_write, other.cache_write),
    }
}

fn bounded(usage: Usage) -> Usage {
    each(usage, usage, |tokens, _| tokens.min(MOST_TOKENS))
}

fn price() -> Price {
    Price::from(Rates {
        input: DOLLARS,
        output: DOLLARS,
        cache_read: DOLLARS,
        cache_write: DOLLARS,
    })
}

fn bill() -> Bill {
    let budget = Budget {
        output_tokens: u64::MAX,
        cost_per_turn: f64::MAX,
        is_firm: false,
        cost_per_day: f64::MAX,
        spent_today: 0.0,
        spending: PathBuf::from("/nonexistent/usage.json"),
        utc_offset: 0,
    };
    Bill::new(budget, "main", true)
}
