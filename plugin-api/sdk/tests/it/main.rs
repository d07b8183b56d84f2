//! A source, led through its life by the host made of memory.

mod histograms;
mod source;
