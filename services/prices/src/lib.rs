//! What models cost: as the configuration says (OpenClaw's
//! `models.providers.<id>.models[].cost`), else what the makers of the best
//! known ones ask for.

mod known;
mod list;
mod price;
mod rates;

pub use list::PriceList;
pub use price::Price;
pub use rates::{Rates, Tier};

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use openclaw_settings::provider::{Api, Provider};

    fn listed(amounts: [f64; 4]) -> Price {
        Price::from(Rates::listed(amounts))
    }

    fn price(models: Value, provider: &str, model: &str) -> Option<Price> {
        let models = models.as_array().unwrap();
        Price::configured(models, model).or_else(|| Price::known(provider, model))
    }

    fn anthropic(models: &Value) -> Provider {
        Provider {
            id: "anthropic".to_owned(),
            base_url: String::new(),
            api: Api::Anthropic,
            key: None,
            access: Vec::new(),
            key_source: String::new(),
            models: models.as_array().unwrap().clone(),
            fault: None,
        }
    }

    #[test]
    fn configuration_comes_before_the_list() {
        let models = json!([
            {"id": "claude-opus-4-6", "cost": {"input": 1, "output": 2, "cacheRead": 0.5}},
            {"id": "claude-sonnet-5"},
            {"id": "broken", "cost": {"input": -1}},
            {"id": "free", "cost": {}},
        ]);
        let own = price(models.clone(), "anthropic", "claude-opus-4-6").unwrap();
        assert!((own.of(1_000_000, 500_000, 2_000_000, 7) - 3.0).abs() < 1e-9);
        let listed = price(models.clone(), "anthropic", "claude-sonnet-5").unwrap();
        assert!((listed.of(0, 1_000_000, 0, 0) - 15.0).abs() < 1e-9);
        assert_eq!(price(models.clone(), "mine", "broken"), None);
        assert_eq!(
            price(models.clone(), "mine", "free"),
            Some(Price::default())
        );
        assert_eq!(price(models, "mine", "claude-opus-4-6-x"), None);
    }

    #[test]
    fn narrower_name_is_found_first() {
        let of = |model| price(json!([]), "openai", model).unwrap().rates.output;
        assert_eq!(
            [of("gpt-5-nano"), of("gpt-5.2"), of("gpt-4o-mini-x")],
            [0.4, 10.0, 0.6]
        );
        let opus = |model| price(json!([]), "anthropic", model).unwrap().rates.output;
        assert_eq!(
            [opus("claude-opus-4-20250514"), opus("claude-opus-4-6")],
            [75.0, 25.0]
        );
    }

    #[test]
    fn price_list_knows_what_is_configured_listed_and_the_dearest() {
        let models = json!([
            {"id": "own", "cost": {"input": 1, "output": 900}},
            {"id": "unpriced"},
        ]);
        let provider = anthropic(&models);
        let list = PriceList::new(Some(&provider), "anthropic");
        let output = |price: Option<Price>| price.map(|price| price.rates.output);
        assert_eq!(output(list.find("own")), Some(900.0));
        assert_eq!(output(list.find("claude-opus-4-8")), Some(25.0));
        assert_eq!(list.find("unpriced"), None);
        assert_eq!(output(list.dearest()), Some(900.0));
        let plain = PriceList::new(None, "anthropic");
        assert_eq!(output(plain.dearest()), Some(75.0));
        assert_eq!(PriceList::new(None, "mine").dearest(), None);
    }

    #[test]
    fn price_has_no_part_below_zero() {
        for part in ["input", "output", "cacheRead", "cacheWrite"] {
            for (amount, is_sane) in [(0.0, true), (0.5, true), (-0.5, false)] {
                let models = json!([{"id": "m", "cost": {part: amount}}]);
                let found = price(models, "mine", "m");
                assert_eq!(found.is_some(), is_sane, "{part} {amount}");
            }
        }
    }

    #[test]
    fn prices_each_kind_of_token_has_its_own_price() {
        let price = listed([1.0, 10.0, 100.0, 1000.0]);
        let of = |tokens: [u64; 4]| {
            let [input, output, read, write] = tokens.map(|millions| millions * 1_000_000);
            price.of(input, output, read, write)
        };
        assert_eq!(of([1, 2, 3, 4]), 4321.0);
        assert_eq!(of([0, 0, 0, 0]), 0.0);
    }

    #[test]
    fn price_of_a_provider_is_what_it_says_or_what_is_listed() {
        let models = json!([{"id": "claude-opus-4-6", "cost": {"input": 7}}]);
        let mut provider = anthropic(&models);
        let input =
            |provider: &Provider, model| Price::find(provider, model).map(|it| it.rates.input);
        assert_eq!(input(&provider, "claude-opus-4-6"), Some(7.0));
        assert_eq!(input(&provider, "claude-opus-4-8"), Some(5.0));
        assert_eq!(input(&provider, "unknown"), None);
        provider.id = "mine".to_owned();
        assert_eq!(input(&provider, "claude-opus-4-8"), None);
    }

    #[test]
    fn dearest_is_the_most_of_each_kind() {
        let list = PriceList {
            provider: "mine".to_owned(),
            configured: vec![
                ("a".to_owned(), listed([1.0, 8.0, 3.0, 6.0])),
                ("b".to_owned(), listed([5.0, 4.0, 7.0, 2.0])),
            ],
        };
        let expected = listed([5.0, 8.0, 7.0, 6.0]);
        assert_eq!(list.dearest(), Some(expected));
    }

    #[test]
    fn prices_long_request_is_charged_as_a_whole_at_its_tier() {
        // As OpenClaw's catalog has it, and in another order.
        let models = json!([{"id": "m", "cost": {"input": 2, "output": 10, "tieredPricing": [
            {"range": [272_001], "input": 4, "output": 15, "cacheRead": 0.4, "cacheWrite": 5},
            {"range": [0, 272_001], "input": 2, "output": 10, "cacheRead": 0.2, "cacheWrite": 2.5},
        ]}}]);
        let price = price(models, "mine", "m").unwrap();
        let of = |input, read, write| price.of(input, 1_000_000, read, write);
        assert!((of(272_000, 0, 0) - (0.544 + 10.0)).abs() < 1e-9);
        assert!((of(272_001, 0, 0) - (1.088_004 + 15.0)).abs() < 1e-9);
        // What comes from a cache was sent, too.
        assert!((of(1, 200_000, 100_000) - (0.000_004 + 0.08 + 0.5 + 15.0)).abs() < 1e-9);
        assert!((of(0, 0, 0) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn tiers_are_found_where_ranges_leave_gaps() {
        let of = |tiers: Value, sent: u64| {
            let models = json!([{"id": "m", "cost": {"input": 9, "tieredPricing": tiers}}]);
            price(models, "mine", "m").map(|price| price.at(sent).input)
        };
        let tier = |input: f64, range: &[f64]| json!({"input": input, "range": range});
        let two = json!([tier(1.0, &[10.0, 20.0]), tier(2.0, &[30.0, 40.0])]);
        let found = [0, 10, 19, 25, 30, 40, 1000].map(|sent| of(two.clone(), sent).unwrap());
        assert_eq!(found, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        // An end that lies before the start is none.
        assert_eq!(of(json!([tier(3.0, &[5.0, 5.0])]), 7), Some(3.0));
        assert_eq!(of(json!([]), 7), Some(9.0));
        // A price that cannot be read is not known, and that of another model is not taken.
        for wrong in [
            tier(-1.0, &[0.0]),
            tier(1.0, &[]),
            tier(1.0, &[0.0, 1.0, 2.0]),
            json!({"input": 1}),
        ] {
            assert_eq!(of(json!([wrong]), 7), None);
        }
    }

    #[test]
    fn prices_long_window_of_anthropic_has_a_price_of_its_own() {
        let cost = |model: &str, sent: u64| {
            let price = price(json!([]), "anthropic", model).unwrap();
            price.of(sent, 0, 0, 0) + price.of(0, 1_000_000, sent, 0)
        };
        let long = cost("claude-sonnet-4-5-20250929", 200_001);
        assert!((long - (0.200_001 * 6.6 + 22.5)).abs() < 1e-9, "{long}");
        let short = cost("claude-sonnet-4-5-20250929", 200_000);
        assert!((short - (0.2 * 3.3 + 15.0)).abs() < 1e-9, "{short}");
        let later = cost("claude-sonnet-4-6", 900_000);
        assert!((later - (0.9 * 3.3 + 15.0)).abs() < 1e-9, "{later}");
    }
}
