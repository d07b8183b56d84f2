//! What other processes and other threads see, and what hostile files and directories do.

mod child;
mod costs;
mod directories;
mod levels;
mod races;
mod survival;
mod view;
