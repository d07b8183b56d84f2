/// Declares an enumeration whose variants are words of a label, with `all()` and `word()`. The list is made of the
/// variants, so that it lacks none. The last variant may wrap another such enumeration, whose words it takes over.
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$means:meta])* $variant:ident = $word:literal,)*
        $(; $(#[$wraps:meta])* $wrapper:ident($inner:ty),)?
    }) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$means])* $variant,)*
            $($(#[$wraps])* $wrapper($inner),)?
        }

        impl $name {
            $vis fn all() -> impl Iterator<Item = Self> {
                [$(Self::$variant,)*].into_iter()$(.chain(<$inner>::all().map(Self::$wrapper)))?
            }

            /// The word for a label.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    $(Self::$wrapper(inner) => inner.as_str(),)?
                }
            }
        }
    };
}
