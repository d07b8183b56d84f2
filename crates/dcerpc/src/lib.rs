//! Connection-oriented DCE/RPC: PDUs and association state machines.
