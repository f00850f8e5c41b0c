//! What programs wrote to standard error, line by line.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::sync::watch;

use crate::within;

/// Lines as they come. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<watch::Sender<Vec<String>>>);

impl Log {
    /// Collects the lines of `source` from now on.
    pub fn follow(&self, source: impl AsyncRead + Unpin + Send + 'static) {
        let lines = Arc::clone(&self.0);
        tokio::spawn(async move {
            let mut source = BufReader::new(source);
            let mut line = Vec::new();
            while source
                .read_until(b'\n', &mut line)
                .await
                .is_ok_and(|read| read > 0)
            {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                lines.send_modify(|lines| lines.push(text));
                line.clear();
            }
        });
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// All lines so far that are JSON.
    pub fn records(&self) -> Vec<Value> {
        let lines = self.lines();
        let parsed = lines
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok());
        parsed.collect()
    }

    /// The first record for which `wanted` holds, waited for.
    pub async fn record(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut lines = self.0.subscribe();
        let found = lines.wait_for(|lines| find(lines, &wanted).is_some());
        within(&format!("a log record: {what}"), found)
            .await
            .map(|lines| find(&lines, &wanted))
            .expect("the log is kept by this value")
            .expect("it was found")
    }

    /// Waits until `count` lines contain `text`.
    pub async fn times(&self, text: &str, count: usize) {
        let mut lines = self.0.subscribe();
        let holding = |lines: &Vec<String>| lines.iter().filter(|line| line.contains(text)).count();
        let enough = lines.wait_for(|lines| holding(lines) >= count);
        let what = format!("{text:?} {count} times in the log");
        within(&what, enough)
            .await
            .expect("the log is kept by this value");
    }

    /// The first record whose message contains `text`, waited for.
    pub async fn message(&self, text: &str) -> Value {
        self.record(text, |record| message_of(record).contains(text))
            .await
    }
}

/// The message of a record.
pub fn message_of(record: &Value) -> &str {
    record["message"].as_str().unwrap_or_default()
}

fn find(lines: &[String], wanted: &impl Fn(&Value) -> bool) -> Option<Value> {
    let parsed = lines
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok());
    parsed.into_iter().find(|record| wanted(record))
}
