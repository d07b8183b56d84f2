//! Associations, and what is in the cells.

mod calls;
mod changes;
mod memory;
mod overlaps;
