//! For plugin authors: a source as a few safe traits and one macro.
