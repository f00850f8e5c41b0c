//! In which units a term is and how often: distances between units, as few
//! bytes each as they need (LEB128), with a bit that says whether a count
//! follows.

/// A unit a term is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    /// The unit's number in its segment.
    pub(crate) unit: u32,
    /// How often the term is there.
    pub(crate) count: u32,
}

/// The units of one term, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    next: u32,
}

impl<'a> Postings<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    /// How much they take; in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        let mut shift = 0;
        while let Some((&byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
            if shift > 35 {
                return None;
            }
        }
        None
    }
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        let number = self.number()?;
        let unit = self.next.checked_add((number >> 1) as u32)?;
        self.next = unit.saturating_add(1);
        let count = match number & 1 {
            0 => 1,
            _ => u32::try_from(self.number()?).ok()?,
        };
        Some(Posting { unit, count })
    }
}

/// Writes the postings of one term.
#[derive(Debug)]
pub(super) struct Encoder<'a> {
    bytes: &'a mut Vec<u8>,
    next: u32,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, next: 0 }
    }

    /// Adds a posting; units come in order.
    pub(super) fn push(&mut self, posting: Posting) {
        let distance = u64::from(posting.unit - self.next);
        self.next = posting.unit + 1;
        self.number(distance << 1 | u64::from(posting.count > 1));
        if posting.count > 1 {
            self.number(u64::from(posting.count));
        }
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    proptest::proptest! {
        #[test]
        fn postings_what_is_written_is_read(
            units in proptest::collection::btree_map(0u32..5_000_000, 1u32..100_000, 0..60)
        ) {
            let mut bytes = Vec::new();
            let mut encoder = Encoder::new(&mut bytes);
            for (&unit, &count) in &units {
                encoder.push(Posting { unit, count });
            }
            let read: BTreeMap<u32, u32> = Postings::new(&bytes).map(|p| (p.unit, p.count)).collect();
            proptest::prop_assert_eq!(read, units);
        }

        #[test]
        fn damaged_bytes_end_the_list(bytes in proptest::collection::vec(0u8.., 0..60)) {
            proptest::prop_assert!(Postings::new(&bytes).count() <= bytes.len());
        }
    }
}
