//! Associations, and what stands in the cells.

mod calls;
mod changes;
mod memory;
mod overlaps;
