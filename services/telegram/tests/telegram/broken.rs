//! Connections that break after any byte of an answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use openclaw_proto::wire::gateway as g;
use serde_json::{Value, json};
use telegram_double::{Double, Fault};
use tokio::task::JoinSet;

use crate::daemon::Site;

/// Daemons at once, each with its part of the bytes.
const AT_ONCE: usize = 10;
/// What an answer begins with when the call was carried out.
const CARRIED_OUT: &str = "{\"ok\":true";

/// The bytes of the head and of the body of an answer.
fn answer(double: &Double, method: &str, parameters: &Value) -> (usize, usize) {
    let address = double.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let (body, token) = (parameters.to_string(), double.token());
    let length = body.len();
    write!(
        stream,
        "POST /bot{token}/{method} HTTP/1.1\r\nhost: {address}\r\ncontent-type: \
         application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let (mut head, mut size) = (0, 0);
    let mut lines = BufReader::new(stream);
    loop {
        let mut line = String::new();
        head += lines.read_line(&mut line).unwrap();
        if let Some(length) = line.to_lowercase().strip_prefix("content-length:") {
            size = length.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; size];
    lines.read_exact(&mut body).unwrap();
    assert!(body.starts_with(CARRIED_OUT.as_bytes()), "{body:?}");
    (head, size)
}

/// Tries all of `bytes`, several sites at once.
async fn everywhere<F>(bytes: usize, part: impl Fn(Site, Vec<usize>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut parts = JoinSet::new();
    for first in 0..AT_ONCE {
        let site = Site::start().await;
        parts.spawn(part(site, (first..bytes).step_by(AT_ONCE).collect()));
    }
    while let Some(done) = parts.join_next().await {
        done.unwrap();
    }
}

async fn measured(method: &'static str, parameters: Value) -> (usize, usize) {
    let double = Arc::new(Double::start().await.unwrap());
    // With a number as long as those that the sites give.
    double.number_from(1100);
    double.say(1000, "/say 1000");
    let measured = Arc::clone(&double);
    tokio::task::spawn_blocking(move || answer(&measured, method, &parameters))
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_answer_to_a_poll_loses_and_doubles_nothing() {
    let (head, body) = measured("getUpdates", json!({})).await;
    everywhere(head + body, |site, cuts| async move {
        for (number, cut) in cuts.iter().enumerate() {
            site.double.inject("getUpdates", Fault::DropAt(*cut));
            // A command is no part of a burst.
            site.double.say(1000, &format!("/say {cut}"));
            site.until_sent(number + 1).await;
        }
        // The last fault may wait for this one.
        site.double.say(1000, "/say last");
        site.until_sent(cuts.len() + 1).await;
        let mut said: Vec<String> = site.double.sent().into_iter().map(|it| it.text).collect();
        said.sort();
        said.dedup();
        assert_eq!(said.len(), cuts.len() + 1, "{said:?}");
        assert_eq!(site.double.sent().len(), said.len(), "{said:?}");
        assert_eq!(site.gateway.texts().len(), said.len());
    })
    .await;
}

/// Where it is known that a message was taken, it is sent once; where it is not, it
/// is sent again, and told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_answer_to_a_message_loses_nothing_and_doubles_what_is_told() {
    let parameters = json!({"chat_id": 1000, "text": "reply 1000"});
    let (head, body) = measured("sendMessage", parameters).await;
    let known = head + CARRIED_OUT.len();
    everywhere(head + body, move |site, cuts| async move {
        for cut in &cuts {
            let chat = 1000 + i64::try_from(*cut).unwrap();
            site.double.open_chat(&chat.to_string());
            site.double.inject("sendMessage", Fault::DropAt(*cut));
            let kind = Some(g::delivery::Kind::Reply(g::RunReply {
                text: format!("reply {chat}"),
                state: "done".into(),
                ..Default::default()
            }));
            let reply = g::Delivery {
                kind,
                ..Default::default()
            };
            let id = site.gateway.say(chat, reply);
            let over = site.gateway.wait(|state| state.over.contains_key(&id));
            site.within("the delivery is over", over).await;
            let times = if *cut < known { 2 } else { 1 };
            let sent = site.double.sent_to(chat);
            assert_eq!(sent.len(), times, "cut at {cut} of {head} + {body}");
        }
        let doubled = cuts.iter().filter(|cut| **cut < known).count();
        assert_eq!(site.log().matches("may be there twice").count(), doubled);
    })
    .await;
}
