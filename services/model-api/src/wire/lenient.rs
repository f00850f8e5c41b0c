//! What is read of a provider's JSON where any value may stand: what is not what it should be
//! is passed over, and nothing is kept of it, however much it is. A tree of such values would
//! take many times their bytes.

use std::fmt;
use std::marker::PhantomData;

use openclaw_turn::whole_count;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Read from any value; the default is that of a value that says nothing.
pub(super) trait Lenient: Default {
    fn number(_number: u64) -> Self {
        Self::default()
    }

    fn text(_text: &str) -> Self {
        Self::default()
    }

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// For `#[serde(deserialize_with)]`.
pub(super) fn read<'de, T: Lenient, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Reading(PhantomData))
}

/// A value that is read leniently.
pub(super) struct Read<T>(pub(super) T);

impl<'de, T: Lenient> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer).map(Self)
    }
}

struct Reading<T>(PhantomData<T>);

impl<'de, T: Lenient> Visitor<'de> for Reading<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_bool<E>(self, _value: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _value: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(T::number(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(whole_count(value).map_or_else(T::default, T::number))
    }

    fn visit_str<E>(self, value: &str) -> Result<T, E> {
        Ok(T::text(value))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}

/// A count; `None`: it is none.
impl Lenient for Option<u64> {
    fn number(number: u64) -> Self {
        Some(number)
    }
}
