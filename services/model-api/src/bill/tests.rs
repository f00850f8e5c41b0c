use openclaw_prices::{Rates, Tier};

use super::*;
use crate::wire::Extras;

const PRICE: Price = Price {
    rates: Rates {
        input: 1.0,
        output: 10.0,
        cache_read: 0.0,
        cache_write: 0.0,
    },
    tiered_pricing: Vec::new(),
};

fn bill(spent_today: f64, is_metered: bool) -> Arc<Bill> {
    let budget = Budget {
        output_tokens: 1000,
        cost_per_turn: 0.005,
        is_firm: false,
        cost_per_day: 1.0,
        spent_today,
        spending: PathBuf::from("/nonexistent"),
        utc_offset: 0,
    };
    Arc::new(Bill::new(budget, "main", is_metered))
}

const ESTIMATE: Estimate = Estimate {
    input: 0,
    most_output: 100,
    price: Some(PRICE),
};

fn used(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

#[tokio::test]
async fn bill_says_of_each_limit_what_to_raise() {
    for (spent_today, usage, word) in [
        (0.0, used(0, 1000), "outputTokens"),
        (0.0, used(5000, 0), "costPerTurn"),
        (0.996, used(4000, 0), "costPerDay"),
    ] {
        let bill = bill(spent_today, true);
        let charge = bill.admit(&ESTIMATE).await.unwrap();
        assert_eq!(bill.refusal(), None);
        charge.see(usage);
        // Under way or settled: it is used.
        let why = bill.admit(&ESTIMATE).await.unwrap_err();
        drop(charge);
        assert_eq!(bill.admit(&ESTIMATE).await.unwrap_err(), why);
        assert!(why.contains(word), "{why}");
        assert_eq!(bill.refusal(), Some(why));
    }
}

#[tokio::test]
async fn bill_is_passed_by_one_answer_at_most_however_many_are_asked_at_once() {
    let bill = bill(0.0, true);
    let asked = Estimate {
        input: 1000,
        most_output: 300,
        ..ESTIMATE
    };
    // $0.004 each, of $0.005.
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let (bill, asked) = (Arc::clone(&bill), asked.clone());
            tokio::spawn(async move {
                let charge = bill.admit(&asked).await?;
                tokio::task::yield_now().await;
                charge.see(used(1000, 300));
                Ok::<(), String>(())
            })
        })
        .collect();
    let mut passed = 0;
    for task in tasks {
        passed += usize::from(task.await.unwrap().is_ok());
    }
    assert_eq!(passed, 2);
    assert!((bill.cost().unwrap() - 0.008).abs() < 1e-9);
}

#[tokio::test]
async fn bill_lets_answers_run_beside_each_other_while_all_of_them_fit() {
    let bill = bill(0.0, true);
    let small = Estimate {
        most_output: 10,
        ..ESTIMATE
    };
    let first = bill.admit(&small).await.unwrap();
    let second = bill.admit(&small).await.unwrap();
    first.forget();
    drop(second);
    assert_eq!(bill.cost(), Some(0.0));
    assert_eq!(bill.untold(), None);
}

#[test]
fn metered_bill_looks_at_nothing_that_the_agent_says() {
    let bill = bill(0.0, true);
    let id = bill.lock().open(ESTIMATE);
    bill.lock().see(id, used(10, 5), Instant::now());
    for cost in [-1e6, 3.0, f64::NAN, 1e308] {
        bill.report_cost(cost);
    }
    let told = bill.note(Kind::Usage(used(u64::MAX, 0)));
    assert_eq!(told, Some(Kind::Usage(used(10, 5))));
    assert_eq!(bill.note(Kind::Usage(used(7, 7))), None);
    bill.close(id, true);
    assert_eq!(bill.untold(), None);
    assert!((bill.cost().unwrap() - 6e-5).abs() < 1e-12);
}

#[test]
fn reported_cost_is_an_amount_and_never_falls() {
    let bill = bill(0.0, false);
    bill.note(Kind::Usage(used(u64::MAX, u64::MAX)));
    bill.note(Kind::Usage(used(u64::MAX, u64::MAX)));
    assert_eq!(bill.cost(), None);
    for (said, cost) in [
        (-1e6, None),
        (f64::NAN, None),
        (f64::INFINITY, None),
        (1e308, None),
        (2.5, Some(2.5)),
        (-1.0, Some(2.5)),
        (1.0, Some(2.5)),
        (3.0, Some(3.0)),
    ] {
        bill.report_cost(said);
        assert_eq!(bill.cost(), cost, "{said}");
    }
}

#[test]
fn cost_that_is_not_known_is_not_nothing() {
    let bill = bill(0.0, true);
    let settle = |price, usage| {
        let id = bill.lock().open(Estimate { price, ..ESTIMATE });
        bill.lock().see(id, usage, Instant::now());
        bill.close(id, true);
    };
    settle(Some(PRICE), used(1_000_000, 0));
    assert_eq!(bill.cost(), Some(1.0));
    settle(None, used(1, 1));
    assert_eq!(bill.cost(), None);
}

#[tokio::test]
async fn bill_counts_what_is_asked_beside_the_model_too() {
    let spent = bill(0.99, true);
    spent.may_add(0.004).unwrap();
    spent.add_beside(0.004);
    assert_eq!(spent.cost(), Some(0.004));
    assert!(spent.may_add(0.002).unwrap_err().contains("costPerTurn"));
    spent.add_beside(0.001);
    let refused = spent.admit(&ESTIMATE).await.unwrap_err();
    assert!(refused.contains("costPerTurn"), "{refused}");
    let late = bill(0.9999, true);
    assert!(late.may_add(0.001).unwrap_err().contains("costPerDay"));
}

/// What a model thinks is not told while it does: a program that leaves before the end
/// does not think for nothing.
#[test]
fn bill_charges_what_may_have_been_made_where_nobody_heard_the_end() {
    let asked = Estimate {
        most_output: 5000,
        ..ESTIMATE
    };
    let began = Instant::now();
    let after = |seconds| began + std::time::Duration::from_secs(seconds);
    let used_by = |seconds, is_heard: bool| {
        let mut totals = Totals::default();
        let id = totals.open(asked.clone());
        totals.send(id, began);
        totals.see(id, used(7, 50), began);
        if is_heard {
            totals.end(id);
        }
        totals.close(id, true, after(seconds));
        totals.used().output
    };
    assert_eq!(used_by(10, true), 50);
    assert_eq!(used_by(0, false), 50);
    // A pause of a second between two pieces is none in which it thinks.
    assert_eq!(used_by(1, false), 50);
    assert_eq!(used_by(11, false), 2050);
    // Not more than was asked for.
    assert_eq!(used_by(1000, false), 5000);
    let mut totals = Totals::default();
    let id = totals.open(asked.clone());
    totals.send(id, began);
    // The end of the turn.
    totals.cut_off(after(7));
    assert_eq!(totals.used().output, 1000);
    totals.close(id, true, after(50));
    assert_eq!(totals.used().output, 1000);
}

/// A user who stops an answer pays what came of it, and an agent that asks for nothing but
/// beginnings pays them.
#[test]
fn bill_charges_what_came_of_an_answer_that_is_stopped_while_it_comes() {
    let asked = Estimate {
        most_output: 50_000,
        ..ESTIMATE
    };
    let began = Instant::now();
    let after = |millis| began + std::time::Duration::from_millis(millis);
    let mut totals = Totals::default();
    let id = totals.open(asked.clone());
    totals.send(id, began);
    for piece in 1..=100 {
        totals.see(id, used(7, piece), after(1500 + piece * 300));
    }
    totals.close(id, true, after(32_000));
    assert_eq!(totals.used().output, 100);
    for _ in 0..10 {
        let id = totals.open(asked.clone());
        totals.send(id, began);
        totals.close(id, true, after(2000));
    }
    // But for 200 ms of the first, 2 s each.
    assert_eq!(totals.used().output, 100 + 360 + 9 * 400);
}

#[tokio::test]
async fn bill_has_what_is_kept_for_an_hour_at_its_own_price_and_as_no_more_tokens() {
    let rates = |cache_write| Rates {
        input: 1.0,
        output: 0.0,
        cache_read: 0.0,
        cache_write,
    };
    let tier = |cache_write, range: &[f64]| Tier {
        rates: rates(cache_write),
        range: range.to_vec(),
    };
    let price = Price {
        rates: rates(1.25),
        tiered_pricing: vec![tier(1.25, &[0.0, 1001.0]), tier(2.5, &[1001.0])],
    };
    for (input, expected) in [(0, 0.002), (1, 1e-6 + 0.004)] {
        let bill = bill(0.0, true);
        let asked = Estimate {
            price: Some(price.clone()),
            ..ESTIMATE
        };
        let charge = bill.admit(&asked).await.unwrap();
        charge.see(Usage {
            cache_write: 1000,
            ..used(input, 0)
        });
        charge.see_extras(Extras {
            kept_for_an_hour: 1000,
            ..Extras::default()
        });
        charge.end();
        assert!((bill.cost().unwrap() - expected).abs() < 1e-9);
        drop(charge);
        assert!((bill.cost().unwrap() - expected).abs() < 1e-9);
        assert_eq!(bill.untold().unwrap().cache_write, 1000);
    }
}

#[tokio::test]
async fn bill_has_the_searches_that_the_provider_made() {
    let bill = bill(0.0, true);
    let charge = bill.admit(&ESTIMATE).await.unwrap();
    charge.see(used(1000, 100));
    charge.see_extras(Extras {
        searches: 3,
        ..Extras::default()
    });
    let tokens = 0.002;
    assert!((bill.cost().unwrap() - tokens - 0.03).abs() < 1e-9);
    charge.end();
    drop(charge);
    assert!((bill.cost().unwrap() - tokens - 0.03).abs() < 1e-9);
    let why = bill.admit(&ESTIMATE).await.unwrap_err();
    assert!(why.contains("costPerTurn"), "{why}");
}

fn firm() -> Arc<Bill> {
    let mut bill = Arc::into_inner(bill(0.0, true)).unwrap();
    bill.budget.is_firm = true;
    Arc::new(bill)
}

#[tokio::test]
async fn firm_bill_asks_for_no_more_than_can_be_paid_for() {
    // $1 and $10 for a million tokens, and $0.005 for the turn.
    let asked = |input: u64, most_output: u64| Estimate {
        input,
        most_output,
        ..ESTIMATE
    };
    let admit = async |bill: &Arc<Bill>, asked: Estimate| {
        let charge = bill.admit(&asked).await?;
        let most = charge.most_output();
        charge.forget();
        Ok::<u64, String>(most)
    };
    let fresh = firm();
    assert_eq!(admit(&fresh, asked(1000, 400)).await, Ok(400));
    assert_eq!(admit(&fresh, asked(1000, 500)).await, Ok(400));
    assert_eq!(admit(&fresh, asked(2000, 128_000)).await, Ok(300));
    // A short answer is one where no longer one is asked for.
    assert_eq!(admit(&fresh, asked(4900, 10)).await, Ok(10));
    let unpriced = Estimate {
        price: None,
        ..asked(6000, 128_000)
    };
    assert_eq!(admit(&fresh, unpriced).await, Ok(128_000));
    let why = admit(&fresh, asked(4500, 128_000)).await.unwrap_err();
    assert!(
        why.contains("costs about $0.0045") && why.contains("and $0.0050 is allowed"),
        "{why}"
    );
    assert!(why.contains("raise agents.defaults.limits.costPerTurn"));
    assert_eq!(fresh.refusal(), Some(why));
    assert!(admit(&firm(), asked(6000, 300)).await.is_err());
    // What is used counts.
    let begun = firm();
    let charge = begun.admit(&asked(1000, 300)).await.unwrap();
    charge.see(used(1000, 100));
    charge.end();
    drop(charge);
    assert_eq!(admit(&begun, asked(0, 128_000)).await, Ok(300));
    let why = admit(&begun, asked(2900, 300)).await.unwrap_err();
    assert!(why.contains("$0.0030 of $0.0050 is left"), "{why}");
    // A limit that is not firm is one for what was used.
    let loose = bill(0.0, true);
    assert_eq!(admit(&loose, asked(6000, 128_000)).await, Ok(128_000));
}

#[tokio::test]
async fn firm_bill_is_passed_by_no_answer_however_many_are_asked_at_once() {
    let bill = firm();
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let bill = Arc::clone(&bill);
            tokio::spawn(async move {
                let asked = Estimate {
                    input: 100,
                    most_output: 300,
                    ..ESTIMATE
                };
                let charge = bill.admit(&asked).await?;
                tokio::task::yield_now().await;
                charge.see(used(100, charge.most_output()));
                charge.end();
                Ok::<(), String>(())
            })
        })
        .collect();
    let mut passed = 0;
    for task in tasks {
        passed += usize::from(task.await.unwrap().is_ok());
    }
    // $0.0031 once, and the rest of $0.0019 with a shorter answer or none.
    assert!((1..=2).contains(&passed), "{passed}");
    assert!(bill.cost().unwrap() <= 0.005 + 1e-9, "{:?}", bill.cost());
}
