use clap::ValueEnum;
use com::comt::tracking::write::{self, EmptyText, Reserved, Untracked};

question! {
    /// What an event of the tracker of COM+ lists.
    EventList {
        /// Processes with their containers ([MS-COMT] 2.2.5.5).
        Processes,
        /// Containers alone ([MS-COMT] 3.2.5.1.1).
        Containers,
    }
}

question! {
    /// What is before the OBJREF_CUSTOM of each object in an event.
    EventHeads {
        /// The head of an OBJREF, as before that of the event itself.
        Objref,
        /// Nothing: OBJREF_CUSTOM is the part after it ([MS-DCOM] 2.2.18.6).
        None,
    }
}

question! {
    /// What the reserved field of each object in an event holds, which readers ignore ([MS-DCOM] 2.2.18.6).
    EventReserved {
        /// How many bytes of data follow.
        DataSize,
        /// Eight more, as some implementations write it.
        DataSizeAndEight,
        Zero,
    }
}

question! {
    /// How an event says that a figure is not tracked.
    EventUntracked {
        /// By 0xFFFFFFFF ([MS-COMT] 2.2.4).
        AllOnes,
        /// It leaves the property out.
        Omitted,
    }
}

question! {
    /// What an event has for an empty text, which LengthPrefixedName cannot express.
    EventEmptyText {
        Omitted,
        /// A length of 0, against [MS-COMT] 2.2.5.1.
        ZeroLength,
        /// The type VT_EMPTY, against [MS-COMT] 2.2.5.2.
        NoValue,
    }
}

question! {
    /// How texts of an event end.
    EventTextEnd {
        /// With their last character ([MS-COMT] 2.2.5.1).
        Plain,
        /// With a NUL, which their length counts.
        Terminated,
    }
}

question! {
    /// What name the value of a property has in an event.
    EventValueName {
        /// That of its property ([MS-COMT] 2.2.5.2).
        Repeated,
        Empty,
    }
}

question! {
    /// Where the collection of an entry is in an event.
    EventOrder {
        /// Behind the other properties.
        CollectionLast,
        CollectionFirst,
    }
}

question! {
    /// Whether collections of an event say which properties their entries have.
    EventPropertyNames {
        /// They do ([MS-COMT] 2.2.5.5).
        Listed,
        NotListed,
    }
}

question! {
    /// What an event calls the identifier of a container.
    EventContainerId {
        /// ApplInstanceID, as the current text of [MS-COMT] 2.2.5.
        ApplInstanceId,
        /// AppInstanceID, as older ones.
        AppInstanceId,
    }
}

question! {
    /// What an event has for a collection without entries.
    EventEmptyCollections {
        Written,
        Omitted,
    }
}

/// What a host chooses about events of the tracker of COM+.
#[derive(Clone, Debug, PartialEq, Eq, Default, clap::Args)]
pub struct TrackerEventChoices {
    /// What an event of the tracker of COM+ lists.
    #[arg(long, value_enum, default_value_t, value_name = "LIST")]
    pub event_list: EventList,
    /// What is before the OBJREF_CUSTOM of each object in an event.
    #[arg(long, value_enum, default_value_t, value_name = "HEAD")]
    pub event_heads: EventHeads,
    /// What the reserved field of each object in an event holds.
    #[arg(long, value_enum, default_value_t, value_name = "VALUE")]
    pub event_reserved: EventReserved,
    /// How an event says that a figure is not tracked.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub event_untracked: EventUntracked,
    /// What an event has for an empty text.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub event_empty_text: EventEmptyText,
    /// How texts of an event end.
    #[arg(long, value_enum, default_value_t, value_name = "END")]
    pub event_text_end: EventTextEnd,
    /// What name the value of a property has in an event.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub event_value_name: EventValueName,
    /// Where the collection of an entry is in an event.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    pub event_order: EventOrder,
    /// Whether collections of an event say which properties their entries have.
    #[arg(long, value_enum, default_value_t, value_name = "NAMES")]
    pub event_property_names: EventPropertyNames,
    /// What an event calls the identifier of a container.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub event_container_id: EventContainerId,
    /// What an event has for a collection without entries.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub event_empty_collections: EventEmptyCollections,
}

impl TrackerEventChoices {
    /// All answers to each question, one at a time, with the usual ones to the others.
    #[must_use]
    pub fn each_alone() -> Vec<Self> {
        let mut all = Vec::new();
        macro_rules! answers {
            ($($field:ident: $question:ident,)*) => {$(
                for &answer in $question::ALL {
                    all.push(Self { $field: answer, ..Self::default() });
                }
            )*};
        }
        answers! {
            event_list: EventList,
            event_heads: EventHeads,
            event_reserved: EventReserved,
            event_untracked: EventUntracked,
            event_empty_text: EventEmptyText,
            event_text_end: EventTextEnd,
            event_value_name: EventValueName,
            event_order: EventOrder,
            event_property_names: EventPropertyNames,
            event_container_id: EventContainerId,
            event_empty_collections: EventEmptyCollections,
        }
        all
    }

    /// The bytes that follow from the choices; what is listed, the writer decides.
    #[must_use]
    pub fn layout(&self) -> write::Choices {
        write::Choices {
            has_heads: self.event_heads == EventHeads::Objref,
            reserved: match self.event_reserved {
                EventReserved::DataSize => Reserved::DataSize,
                EventReserved::DataSizeAndEight => Reserved::DataSizeAndEight,
                EventReserved::Zero => Reserved::Number(0),
            },
            untracked: match self.event_untracked {
                EventUntracked::AllOnes => Untracked::AllOnes,
                EventUntracked::Omitted => Untracked::Omitted,
            },
            empty_text: match self.event_empty_text {
                EventEmptyText::Omitted => EmptyText::Omitted,
                EventEmptyText::ZeroLength => EmptyText::ZeroLength,
                EventEmptyText::NoValue => EmptyText::NoValue,
            },
            is_terminated: self.event_text_end == EventTextEnd::Terminated,
            repeats_names: self.event_value_name == EventValueName::Repeated,
            collection_first: self.event_order == EventOrder::CollectionFirst,
            lists_names: self.event_property_names == EventPropertyNames::Listed,
            container_id_name: match self.event_container_id {
                EventContainerId::ApplInstanceId => "ApplInstanceID",
                EventContainerId::AppInstanceId => "AppInstanceID",
            },
            empty_collections: self.event_empty_collections == EventEmptyCollections::Written,
            ..write::Choices::default()
        }
    }
}
