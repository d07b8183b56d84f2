/// Declares a wire enumeration that keeps values it has no name for.
///
/// ```
/// wire::open_enum! {
///     /// The audience of a counter.
///     pub struct DetailLevel(u32) {
///         /// Anybody.
///         NOVICE = 100,
///         /// Administrators.
///         ADVANCED = 200,
///     }
/// }
/// assert_eq!(DetailLevel(100), DetailLevel::NOVICE);
/// assert_eq!(DetailLevel::ADVANCED.to_string(), "ADVANCED");
/// assert_eq!(DetailLevel(7).to_string(), "0x00000007");
/// assert_eq!(DetailLevel(7).name(), None);
/// ```
#[macro_export]
macro_rules! open_enum {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($repr:ty) {
        $($(#[$variant_meta:meta])* $variant:ident = $value:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        $vis struct $name(pub $repr);

        impl $name {
            $($(#[$variant_meta])* pub const $variant: Self = Self($value);)*

            /// The name that the specification gives this value, if it has one.
            #[must_use]
            pub const fn name(self) -> ::core::option::Option<&'static str> {
                #[allow(unreachable_patterns, reason = "a specification may name one value twice")]
                match self {
                    $(Self::$variant => ::core::option::Option::Some(stringify!($variant)),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    ::core::option::Option::Some(name) => f.write_str(name),
                    ::core::option::Option::None => {
                        write!(f, "{:#0width$x}", self.0, width = 2 + 2 * ::core::mem::size_of::<$repr>())
                    }
                }
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }
    };
}
