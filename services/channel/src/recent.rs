//! A map that forgets the oldest.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Values by their keys, at most so many: what was put first is forgotten first.
#[derive(Debug)]
pub struct Recent<V> {
    limit: usize,
    next: u64,
    values: HashMap<Arc<str>, (u64, V)>,
    order: BTreeMap<u64, Arc<str>>,
}

impl<V> Recent<V> {
    /// One of at most `limit` values.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            next: 0,
            values: HashMap::new(),
            order: BTreeMap::new(),
        }
    }

    /// What was put for `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.values.get(key).map(|(_, value)| value)
    }

    /// Puts `value` for `key`, which is the newest then; what was there.
    pub fn put(&mut self, key: &str, value: V) -> Option<V> {
        let before = self.remove(key);
        if self.values.len() >= self.limit
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.values.remove(&oldest);
        }
        let key: Arc<str> = key.into();
        self.order.insert(self.next, Arc::clone(&key));
        self.values.insert(key, (self.next, value));
        self.next += 1;
        before
    }

    /// Forgets `key` and returns what was there.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let (at, value) = self.values.remove(key)?;
        self.order.remove(&at);
        Some(value)
    }

    /// The keys and values, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        let keys = self.order.values();
        keys.filter_map(|key| Some((&**key, self.get(key)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_forgets_the_oldest_alone() {
        let mut recent = Recent::new(3);
        for key in ["a", "b", "c", "a", "d"] {
            recent.put(key, key.len());
        }
        let keys: Vec<_> = recent.iter().map(|(key, _)| key.to_owned()).collect();
        assert_eq!(keys, ["c", "a", "d"]);
        assert!(recent.get("b").is_none() && recent.remove("c").is_some());
        for key in 0..1000 {
            recent.put(&key.to_string(), 0);
        }
        assert_eq!((recent.values.len(), recent.order.len()), (3, 3));
    }
}
