//! How sections of the configuration are stated: each key once, with its type,
//! its bounds, its default and its description. Parsing, the JSON Schema, what
//! is shown as its default and help follow from that.

/// Structs whose fields are keys: `name: Type = default`. A key without a
/// default is empty where nothing is set, and so is one that is `null`.
macro_rules! sections {
    ($(
        $(#[$attr:meta])*
        pub struct $name:ident {
            $( $(#[$field:meta])* $key:ident: $type:ty $(= $default:expr)? ),* $(,)?
        }
    )*) => { $(
        #[derive(Debug, Clone, PartialEq, serde::Deserialize, serde::Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(default, rename_all = "camelCase")]
        $(#[$attr])*
        pub struct $name {
            $( $(#[$field])* pub $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: sections!(@default $($default)?), )* }
            }
        }
    )* };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
}

/// Enums whose cases are words of the configuration, `|` before other words for the same.
macro_rules! words {
    (
        $(#[$attr:meta])*
        pub enum $name:ident {
            $( $(#[$doc:meta])* $case:ident = $word:literal $(| $other:literal)* ),* $(,)?
        }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[derive(serde::Deserialize, serde::Serialize)]
        $(#[$attr])*
        pub enum $name {
            $( $(#[$doc])* #[serde(rename = $word $(, alias = $other)*)] $case, )*
        }

        impl $name {
            /// As it is written in the configuration.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$case => $word, )* }
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "enum": [$( $word $(, $other)* ),*],
                })
            }
        }
    };
}

pub(crate) use {sections, words};
