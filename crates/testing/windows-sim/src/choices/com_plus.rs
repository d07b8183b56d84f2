use clap::ValueEnum;

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
        /// Nothing: 0.
        Zero,
    }
}

question! {
    /// Whether the host writes process dumps ([MS-COMT] 3.1.4.2.1).
    ProcessDumps {
        /// It does.
        Supported,
        /// It says that it does not.
        Unsupported,
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
}
