use clap::ValueEnum;
use wire::HResult;

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
