use clap::ValueEnum;

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
