//! What channel daemons hand in, as the wire has it.

use openclaw_inbound::{Facts, PairedPeople, Verdict, about, decision_of, judge, said, said_by};
use openclaw_proto::channel::{Abilities, HandIn, What};
use openclaw_proto::wire::channel as wire;
use openclaw_settings::keys::channels::Account;
use prost::Message as _;

/// Lines of what the agent is told of the channel.
const ABOUT: usize = 5;

/// What a channel daemon hands in: a stranger stays one, and what the agent is told of it
/// has no line that the sender's names or the chat's title made.
pub fn hand_in(bytes: &[u8]) {
    let Ok(request) = wire::HandInRequest::decode(bytes) else {
        return;
    };
    let Ok(hand_in) = HandIn::try_from(request) else {
        return;
    };
    let again = HandIn::try_from(wire::HandInRequest::from(hand_in.clone()));
    assert_eq!(again.expect("it may be handed in again"), hand_in);
    let account: Account = serde_json::from_str("{}").expect("an account");
    let facts = Facts {
        channel: &hand_in.account.channel,
        account: &hand_in.account.account,
        is_default_account: true,
        chat: hand_in.place.chat,
        chat_id: &hand_in.place.id,
        former_chat_id: &hand_in.place.former_id,
        thread: hand_in.place.thread.as_deref(),
        sender: &hand_in.sender.id,
        is_bot: hand_in.sender.is_bot,
        is_to_bot: true,
    };
    let verdict = judge(&account, &facts, PairedPeople::default());
    assert!(!matches!(verdict, Verdict::Allow { .. }), "{verdict:?}");
    let told = about("telegram", &Abilities::default(), &hand_in.place);
    assert!(told.lines().count() <= ABOUT, "{told:?}");
    match &hand_in.what {
        What::Message(message) => _ = said(&hand_in, message, &[]),
        What::Press(press) => {
            let both = (decision_of(&press.data), said_by(&press.data));
            assert!(!matches!(both, (Some(_), Some(_))), "{both:?}");
        }
        What::Reaction(_) | What::Membership(_) => {}
    }
}
