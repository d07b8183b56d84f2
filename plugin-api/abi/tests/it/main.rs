//! The header and its mirror, compared by a C compiler.

mod header;
