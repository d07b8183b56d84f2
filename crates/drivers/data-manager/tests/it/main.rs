//! Tests on real folders.
