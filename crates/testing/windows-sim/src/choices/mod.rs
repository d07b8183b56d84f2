//! What documents leave open, or say in two ways: a host of ours may do each of them.
//!
//! One `question!` an enumeration, and a field of the struct of its subject ([`Choices`] for counters of version 2); what reads it
//! is in `service/`, of events and call-backs in `server/publish/`. A question is tried where tests list it: `each_alone` of events
//! and logs, `COUNTS` and `choices` in `plugins/pcq/tests/it/choices.rs`, and `tests/it/choices.rs` here. Those of COM+ and of the
//! registry's performance data, which are in this file, each have a test of their own.
//!
//! The first variant is the default: what perflib.h and the documentation of its functions say, since those are about the program
//! that answers; [MS-PCQ] says the other now and then. A client has to show the same values whatever a host chooses.

use clap::ValueEnum;
use wire::HResult;

pub use self::performance_counters::{
    AggregateIdentifiers, BlockOrder, BlockPadding, IdListPadding, IndexAnswer, OddAnswer, PaddingBytes,
    RefusedCodes, SmallBuffer, StringOffsets,
};
pub use self::performance_logs::{
    PlaArrays, PlaBadIndex, PlaChanges, PlaChoices, PlaConflicts, PlaEmptyArrays, PlaEnumeratedItems,
    PlaEnumerators, PlaEnums, PlaIndexTypes, PlaOrder, PlaUnsetText,
};
pub use self::tracker_events::{
    EventContainerId, EventEmptyCollections, EventEmptyText, EventHeads, EventList, EventOrder,
    EventPropertyNames, EventReserved, EventTextEnd, EventUntracked, EventValueName, TrackerEventChoices,
};

macro_rules! question {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident, $($(#[$other_doc:meta])* $other:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $($(#[$other_doc])* $other,)*
        }

        impl $name {
            /// All answers, the default first.
            pub const ALL: &[Self] = &[Self::$first, $(Self::$other,)*];
        }
    };
}

mod performance_counters;
mod performance_logs;
mod tracker_events;

/// What a host chooses.
#[derive(Clone, Debug, PartialEq, Eq, Default, clap::Args)]
#[command(next_help_heading = "What documents leave open")]
pub struct Choices {
    /// What happens to Index in the answer to opnum 7.
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub index: IndexAnswer,
    /// In which order blocks come.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    pub block_order: BlockOrder,
    /// What is after an odd number of counter ids.
    #[arg(long, value_enum, default_value_t, value_name = "PADDING")]
    pub id_list_padding: IdListPadding,
    /// What is after a block that does not end at a multiple of 8.
    #[arg(long, value_enum, default_value_t, value_name = "PADDING")]
    pub block_padding: BlockPadding,
    /// What padding consists of.
    #[arg(long, value_enum, default_value_t, value_name = "BYTES")]
    pub padding_bytes: PaddingBytes,
    /// What dwOffset of a text counts from.
    #[arg(long, value_enum, default_value_t, value_name = "BASE")]
    pub string_offsets: StringOffsets,
    /// What a method says whose buffer is too small.
    #[arg(long, value_enum, default_value_t, value_name = "STATUS")]
    pub small_buffer: SmallBuffer,
    /// Which request codes of opnum 1 are refused.
    #[arg(long, value_enum, default_value_t, value_name = "CODES")]
    pub refused_codes: RefusedCodes,
    /// How an aggregate counterset without the bit "multiple" is asked for, and what the other form is answered with.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub aggregate_identifiers: AggregateIdentifiers,
    /// How the host answers about the registration of --odd-counterset.
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER", requires = "odd_counterset")]
    pub odd_answer: OddAnswer,
    /// The counterset, by its English name, that --odd-answer is about.
    #[arg(long, value_name = "COUNTERSET", requires = "odd_answer")]
    pub odd_counterset: Option<String>,
    /// A counterset or an object of version 1, by its English name, whose provider hangs: questions about its
    /// registration, and queries for the object, are never answered.
    #[arg(long, value_name = "COUNTERSET")]
    pub hanging_counterset: Option<String>,
    /// The same of performance data of the registry.
    #[command(flatten)]
    pub performance_data: PerformanceDataChoices,
    /// The same of the tracker of COM+.
    #[command(flatten)]
    pub com_plus: ComPlusChoices,
    /// Events of the tracker of COM+.
    #[command(flatten)]
    pub tracker_events: TrackerEventChoices,
    /// Performance logs and alerts.
    #[command(flatten)]
    pub performance_logs: PlaChoices,
}

impl Choices {
    /// What is odd about this counterset.
    pub(crate) fn odd(&self, counterset: &str) -> OddAnswer {
        if self.odd_counterset.as_deref() == Some(counterset) { self.odd_answer } else { OddAnswer::None }
    }
}

question! {
    /// Whether performance data of the registry has the countersets of version 2, too.
    Translation {
        /// It has objects of version 1 alone.
        Off,
        /// Each counterset is an object as well.
        On,
    }
}

question! {
    /// In which state the tables of names of objects and counters are.
    NameTables {
        /// As they should be.
        Whole,
        /// Each index is there twice, the second time with another text.
        Duplicates,
        /// The text of one index is missing.
        Shifted,
        /// Names that not every Windows has are not at the indexes that the data say.
        Stale,
    }
}

question! {
    /// Which length in the data of [`PerformanceDataChoices::corrupt_object`] lies.
    ObjectCorruption {
        None,
        /// `TotalByteLength` leads out of the data.
        TotalTooLong,
        /// `TotalByteLength` leads into the middle of the object.
        TotalTooShort,
        /// `DefinitionLength` leads out of the object.
        Definition,
        /// `NumCounters` is more than there are.
        Counters,
        /// `NumInstances` is more than there are.
        Instances,
        /// `CounterOffset` of the last counter leads out of the counter block.
        CounterOffset,
        /// `NameLength` of the first instance leads out of the instance.
        InstanceName,
        /// `ByteLength` of the first counter block leads out of the object.
        Block,
    }
}

/// What a host chooses about performance data of its registry.
#[derive(Clone, Debug, PartialEq, Eq, Default, clap::Args)]
pub struct PerformanceDataChoices {
    /// Whether performance data of the registry has the countersets of version 2, too.
    #[arg(long, value_enum, default_value_t, value_name = "STATE")]
    pub translation: Translation,
    /// In which state the tables of names of objects and counters are.
    #[arg(long, value_enum, default_value_t, value_name = "STATE")]
    pub name_tables: NameTables,
    /// Which length in the data of --corrupt-object lies.
    #[arg(long, value_enum, default_value_t, value_name = "LENGTH", requires = "corrupt_object")]
    pub object_corruption: ObjectCorruption,
    /// The object of version 1, by its English name, that --object-corruption is about.
    #[arg(long, value_name = "OBJECT", requires = "object_corruption")]
    pub corrupt_object: Option<String>,
}

question! {
    /// What the tracker of COM+ lists.
    ContainerList {
        /// Each instance container ([MS-COMT] 3.1.4.1.1).
        Containers,
        /// Each application once, with averages of all of its containers ([MS-COMT] 2.2.3).
        Applications,
    }
}

question! {
    /// What the tracker of COM+ says of calls per second.
    CallRate {
        /// An average of four seconds, as Windows.
        Averaged,
        Zero,
    }
}

question! {
    /// Whether the host writes process dumps ([MS-COMT] 3.1.4.2.1).
    ProcessDumps {
        Supported,
        /// It says that it does not.
        Unsupported,
    }
}

question! {
    /// How the tracker of COM+ fails a call for a container that it does not have, or for a component that the container does not
    /// have: [MS-COMT] 3.1.4.1.2 and 3.1.4.1.3 say only that it does.
    EndedContainer {
        /// What documents call `E_INVALIDARG`.
        InvalidArgument,
        /// What documents call `E_FAIL`.
        Failure,
        /// What documents call `E_UNEXPECTED`.
        Unexpected,
        /// What documents call `E_ACCESSDENIED`.
        AccessDenied,
        /// What documents call `RPC_E_DISCONNECTED`.
        Disconnected,
        /// A code of the tracker's own.
        OwnCode,
    }
}

impl EndedContainer {
    #[must_use]
    pub const fn status(self) -> HResult {
        match self {
            Self::InvalidArgument => HResult::E_INVALIDARG,
            Self::Failure => HResult::E_FAIL,
            Self::Unexpected => HResult::E_UNEXPECTED,
            Self::AccessDenied => HResult::E_ACCESSDENIED,
            Self::Disconnected => HResult::RPC_E_DISCONNECTED,
            Self::OwnCode => HResult(0x8011_0401),
        }
    }
}

question! {
    /// How many references come with each interface of an object that is activated: [MS-DCOM] 3.1.1.5.6.1.1 gives at least one.
    InterfaceReferences {
        Five,
        One,
    }
}

question! {
    /// How the host authenticates when it calls a subscriber: [MS-DCOM] 3.2.4.1.2.2 and 3.2.6.1 for the calls of its resolver,
    /// [MS-COMT] <16> for those of the tracker.
    CallBackSecurity {
        /// Not at all, as the reference says ([MS-DCOM] 3.2.4.2).
        None,
        /// As nobody, by NTLM ([MS-NLMP] 3.2.5.1.2), each call signed.
        AnonymousNtlm,
        /// The same in SPNEGO, each call sealed.
        AnonymousNegotiate,
        /// As the machine, by NTLM, at the beginning of a connection alone.
        MachineAtConnect,
        /// As the machine, by NTLM, each call signed.
        MachineSigned,
        /// As the machine, by Kerberos.
        Kerberos,
    }
}

/// What a host chooses about the tracker of COM+.
#[derive(Clone, Debug, PartialEq, Eq, Default, clap::Args)]
pub struct ComPlusChoices {
    /// What the tracker of COM+ lists.
    #[arg(long, value_enum, default_value_t, value_name = "LIST")]
    pub container_list: ContainerList,
    /// What the tracker of COM+ says of calls per second.
    #[arg(long, value_enum, default_value_t, value_name = "RATE")]
    pub call_rate: CallRate,
    /// Whether the host writes process dumps.
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub process_dumps: ProcessDumps,
    /// How the tracker of COM+ fails a call for a container that ended.
    #[arg(long, value_enum, default_value_t, value_name = "STATUS")]
    pub ended_container: EndedContainer,
    /// How many references come with an interface of an activated object.
    #[arg(long, value_enum, default_value_t, value_name = "NUMBER")]
    pub interface_references: InterfaceReferences,
    /// How the host authenticates when it calls a subscriber.
    #[arg(long, value_enum, default_value_t, value_name = "SECURITY")]
    pub call_back_security: CallBackSecurity,
}
