//! Looking for a message of which it is not known whether Telegram has it. Telegram
//! answers no such question, but it says of an edit that changes nothing that it does.

use serde_json::Value;

use crate::api::Error;
use crate::bot::Bot;

/// Numbers behind the last one that was known at which it is looked for: those of other
/// chats are among them.
const REACH: i64 = 16;

/// The first number behind `after` and none of `others` at which the edit stands that
/// `request` asks for.
pub(crate) async fn message(
    bot: &Bot,
    after: i64,
    others: &[i64],
    request: impl Fn(i64) -> (&'static str, Value),
) -> Result<Option<i64>, Error> {
    let Ok(api) = bot.api() else { return Ok(None) };
    for number in (after + 1..=after + REACH).filter(|it| !others.contains(it)) {
        let (method, parameters) = request(number);
        match api.call(method, &parameters).await {
            Ok(_) => return Ok(Some(number)),
            Err(error) if error.description().contains("message is not modified") => {
                return Ok(Some(number));
            }
            // There is none, or it is somebody else's.
            Err(error) if error.code() == Some(400) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
