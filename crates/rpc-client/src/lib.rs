//! Drivers for SMB named pipes and RPC associations.
