//! One answer of the model on a turn's bill.

use std::sync::Arc;

use openclaw_proto::event::Usage;
use openclaw_settings::price::Price;

use super::Bill;

/// An answer that was let through. Dropped, it is settled with what was seen of
/// it.
#[derive(Debug)]
pub struct Charge {
    bill: Arc<Bill>,
    id: u64,
    counts: bool,
}

impl Charge {
    pub(super) fn new(bill: Arc<Bill>, id: u64) -> Self {
        Self {
            bill,
            id,
            counts: true,
        }
    }

    /// Who answers is asked at this price.
    pub fn charge_at(&self, price: Option<Price>) {
        self.bill.lock().charge_at(self.id, price);
    }

    /// What the answer used so far.
    pub fn see(&self, usage: Usage) {
        self.bill.lock().see(self.id, usage);
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
