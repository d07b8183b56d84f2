//! Laws that every decoder keeps, for the fuzzers and for replayed findings.
