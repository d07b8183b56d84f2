//! Laws that every decoder keeps, for the fuzzers and for replayed findings.
//!
//! An oracle takes any bytes at all and panics where a law is broken: what is read takes as many bytes as it says,
//! reads the same after it was written again, borrows from its buffer and nowhere else; a machine answers the same
//! however its stream was cut, keeps to its limits, and stays refused once it refused. An oracle is deterministic but
//! for [`ssp::tokens`], works through at most [`INPUT_BYTES_MAX`], and takes memory in proportion to that.
//!
//! There is a module for each protocol and a row in [`ORACLES`] for each oracle; what the exporter itself reads has its laws
//! in [`exporter`], the feature of that name, because it takes most of the time to build. The fuzzers in `fuzz/` call one
//! oracle each; this crate's tests replay what is in `tests/data`, a folder for each oracle, and changes of it. What a fuzzer
//! found becomes a file there. `cargo run -p oracles --example seed` writes the seeds among them.
//!
//! Out of reach: encrypted SMB messages beyond their header, whose keys never leave a connection.
//!
//! ```
//! let (name, oracle) = oracles::ORACLES[0];
//! assert_eq!(name, "dtyp_values");
//! oracle(b"no law is broken by this");
//! ```

pub mod counter_log;
pub mod counter_types;
pub mod data_manager;
pub mod dcerpc;
pub mod dcom_exporter;
pub mod dtyp;
pub mod epm;
#[cfg(feature = "exporter")]
pub mod exporter;
mod input;
pub mod interfaces;
mod law;
mod mgmt;
mod ms_comev;
pub mod ms_comt;
pub mod ms_dcom;
mod ms_oaut;
pub mod ms_pcq;
pub mod ms_pla;
pub mod ms_rrp;
pub mod ms_smb2;
pub mod ndr;
pub mod perflib_v1;
pub mod pla_engine;
pub mod pla_report;
#[cfg(feature = "exporter")]
#[path = "../../../../plugin-api/oracle/mod.rs"]
mod plugin;
pub mod rpc_cells;
pub mod seeds;
pub mod ssp;

pub use test_support::oracle::{INPUT_BYTES_MAX, Oracle};

/// All oracles, each by the name of its fuzz target and of its folder of inputs.
pub const ORACLES: [(&str, Oracle); 38] = [
    ("dtyp_values", dtyp::values),
    ("ndr_constructs", ndr::constructs),
    ("rpc_stubs", interfaces::stubs),
    ("pcq_query_data", ms_pcq::query_data),
    ("pcq_lists", ms_pcq::lists),
    ("pcq_requests", ms_pcq::requests),
    ("pcq_responses", ms_pcq::responses),
    ("pcq_blocks", ms_pcq::blocks),
    ("pcq_registration", ms_pcq::registration),
    ("pcq_conversation", ms_pcq::conversation),
    ("rrp_requests", ms_rrp::requests),
    ("rrp_responses", ms_rrp::responses),
    ("rrp_values", ms_rrp::values),
    ("comt_tracking", ms_comt::tracking),
    ("pla_xml", ms_pla::xml),
    ("pla_messages", ms_pla::messages),
    ("pla_value_maps", ms_pla::value_maps),
    ("pla_thresholds", pla_engine::thresholds),
    ("pla_arguments", pla_engine::arguments),
    ("data_manager_cab", data_manager::cabinet),
    ("pla_rules_document", pla_report::rules_document),
    ("pla_names", pla_engine::names),
    ("dcom_objref", ms_dcom::objref),
    ("dcom_call_backs", dcom_exporter::call_backs),
    ("epm_tower", epm::tower),
    ("epm_responses", epm::responses),
    ("perflib_block", perflib_v1::block),
    ("perflib_names", perflib_v1::names),
    ("rpc_cells", rpc_cells::file),
    ("counter_path", counter_types::path),
    ("counter_log_journal", counter_log::journal),
    ("dcerpc_pdu", dcerpc::pdu),
    ("dcerpc_client", dcerpc::client),
    ("dcerpc_server", dcerpc::server),
    ("smb2_messages", ms_smb2::messages),
    ("smb2_client", ms_smb2::client),
    ("smb2_server", ms_smb2::server),
    ("ssp_tokens", ssp::tokens),
];
