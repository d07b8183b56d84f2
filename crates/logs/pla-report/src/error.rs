/// Why rules are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The document is not XML that is read here.
    #[error("read the rules: {0}")]
    Document(#[from] ms_pla::xml::Error),
    /// An element is not what [MS-PLA] 2.2.3.4 to 2.2.8 say.
    #[error("rules, {place}: {reason}")]
    Rule {
        /// Where: the names of group and rule as far as they are known, and line and column.
        place: String,
        /// What is wrong, and what is expected.
        reason: String,
    },
}
