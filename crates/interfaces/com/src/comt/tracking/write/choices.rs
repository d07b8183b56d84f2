use wire::Guid;

/// What [MS-COMT] leaves to the writer, or says in two ways. The default is what its current text says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The interface in each OBJREF; the document names none.
    pub interface: Guid,
    /// Whether the objects in the event have the head of an OBJREF before their OBJREF_CUSTOM. The event itself has it, as each
    /// parameter of a method.
    pub has_heads: bool,
    /// The `reserved` field of OBJREF_CUSTOM, which readers ignore.
    pub reserved: Reserved,
    /// How a number that is not tracked is written.
    pub untracked: Untracked,
    /// How an empty text is written, which LengthPrefixedName cannot express.
    pub empty_text: EmptyText,
    /// Whether texts end in a NUL, which is counted (2.2.5.1 advises against it).
    pub is_terminated: bool,
    /// Whether the name of a property is repeated in its value (2.2.5.2), or is empty there.
    pub repeats_names: bool,
    /// Whether the collection of an entry comes before its other properties, instead of after them.
    pub collection_first: bool,
    /// Whether collections have PropertyNames.
    pub lists_names: bool,
    /// The name of the container identifier: `ApplInstanceID` in the current text, `AppInstanceID` in older ones.
    pub container_id_name: &'static str,
    /// Whether a process without containers, or a container without components, has an empty collection, or no
    /// property.
    pub empty_collections: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            interface: Guid::from_u128(0x0000_0000_0000_0000_c000_0000_0000_0046), // IUnknown
            has_heads: true,
            reserved: Reserved::DataSize,
            untracked: Untracked::AllOnes,
            empty_text: EmptyText::Omitted,
            is_terminated: false,
            repeats_names: true,
            collection_first: false,
            lists_names: true,
            container_id_name: "ApplInstanceID",
            empty_collections: true,
        }
    }
}

/// The `reserved` field of OBJREF_CUSTOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    DataSize,
    /// Bytes of `pObjectData` and eight more, as some implementations write it.
    DataSizeAndEight,
    Number(u32),
}

/// How a number that is not tracked is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untracked {
    AllOnes,
    /// The property is missing.
    Omitted,
}

/// How an empty text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyText {
    /// The property is missing.
    Omitted,
    /// The length is 0, against 2.2.5.1.
    ZeroLength,
    /// The type is VT_EMPTY, against 2.2.5.2.
    NoValue,
}
