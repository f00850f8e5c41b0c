//! One answer of the model on a turn's bill.

use std::sync::Arc;

use openclaw_prices::Price;
use openclaw_proto::event::Usage;
use tokio::time::Instant;

use super::Bill;
use crate::wire::Extras;

/// An answer that was let through. Dropped, it is settled with what was seen of
/// it, and where that is not its end, with what may have been made besides.
#[derive(Debug)]
pub struct Charge {
    bill: Arc<Bill>,
    id: u64,
    most_output: u64,
    counts: bool,
}

impl Charge {
    pub(super) fn new(bill: Arc<Bill>, id: u64, most_output: u64) -> Self {
        Self {
            bill,
            id,
            most_output,
            counts: true,
        }
    }

    /// The most tokens that are paid for.
    pub fn most_output(&self) -> u64 {
        self.most_output
    }

    /// Who answers is asked at this price.
    pub fn charge_at(&self, price: Option<Price>) {
        self.bill.lock().charge_at(self.id, price);
    }

    /// What the answer used so far.
    pub fn see(&self, usage: Usage) {
        self.bill.lock().see(self.id, usage, Instant::now());
    }

    /// What the provider charges for it beside the tokens so far.
    pub fn see_extras(&self, extras: Extras) {
        self.bill.lock().see_extras(self.id, extras);
    }

    /// The question goes out now.
    pub fn send(&self) {
        self.bill.lock().send(self.id, Instant::now());
    }

    /// The answer has come to its end: what was seen of it is what it used.
    pub fn end(&self) {
        self.bill.lock().end(self.id);
    }

    /// There was no answer, and nothing is charged.
    pub fn forget(mut self) {
        self.counts = false;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.bill.close(self.id, self.counts);
    }
}
