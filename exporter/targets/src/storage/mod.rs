//! Files that sources keep of their targets, such as logs, below one configured directory:
//! `DIRECTORY/TARGET/SET/RUN/FILE`, where names are made harmless by [`safe_text::component`]. Sources write, the exporter reads.
//!
//! Everything is opened through [`cap_std::fs::Dir`], one name at a time, and no link is followed, so that whoever can
//! write a target's directory cannot have another file of this machine read.

mod directory;
mod open;
mod path;
mod tree;

pub use self::directory::{Makes, check};
pub use self::open::{Opened, open};
pub use self::path::FilePath;
pub use self::tree::{FILES_MAX, FOLDERS_MAX, Run, RunFile, Tree, read};
