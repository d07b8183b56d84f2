//! Memory in which libraries keep the state of their RPC run time: a file for each.

use std::path::Path;

use parking_lot::Mutex;
use plugin_abi::raw::{FAILED, NOT_FOUND, STOPPED};
use rpc_cells::{
    Capacity, Error, Level, Memory as _, RunDirectory, SectionFile, SectionFileOptions, SigbusGuard, boot_ms,
};

/// Where the files are made, and what is kept in them.
#[derive(Debug)]
pub struct CellFiles {
    directory: RunDirectory,
    level: Level,
    guard: SigbusGuard,
}

impl CellFiles {
    /// Files in the directory at `path`, one for each library that asks for one. Makes the directory if it is missing, and
    /// installs the handler of SIGBUS that keeps a truncated file from ending the process.
    ///
    /// # Errors
    /// When the directory is not this user's alone, or cannot be made.
    pub fn open(path: &Path, level: Level) -> Result<Self, Error> {
        Ok(Self { directory: RunDirectory::open(path)?, level, guard: SigbusGuard::install()? })
    }

    /// Removes the files of processes that do not run any more, and returns their names.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn remove_stale(&self) -> Result<Vec<String>, Error> {
        self.directory.remove_stale()
    }

    fn create(&self, name: &str) -> Result<SectionFile, Error> {
        let capacity = Capacity::default();
        let options = SectionFileOptions { name, level: self.level, capacity, now_ms: boot_ms() };
        self.directory.create(self.guard, &options)
    }
}

/// How much memory a library has for cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Sections that it may use; 0 if it keeps no cells.
    pub sections: u16,
    /// Pages that were missing when they were written, because somebody had truncated the file.
    pub pages_lost: u64,
}

/// The memory of one library.
#[derive(Default)]
pub(crate) struct LibraryCells(Mutex<State>);

#[derive(Default)]
enum State {
    /// The library has not asked.
    #[default]
    Unasked,
    /// It has the memory for the life of the process.
    Kept(Kept),
    /// It gets none, with this status.
    Without(i32),
}

struct Kept {
    file: &'static SectionFile,
    level: Level,
    /// How many of its sections have room in the file.
    sections: u16,
    is_full_logged: bool,
}

/// What a library gets.
#[derive(Clone, Copy)]
pub(crate) struct Handed {
    pub(crate) file: &'static SectionFile,
    pub(crate) level: Level,
    pub(crate) sections: u16,
}

impl LibraryCells {
    /// The memory, with so many sections or as many as there is room for; or the status instead of it.
    pub(crate) fn hand_over(
        &self,
        files: Option<&CellFiles>,
        plugin: &str,
        sections: u32,
    ) -> Result<Handed, i32> {
        let mut state = self.0.lock();
        if matches!(*state, State::Unasked) {
            *state = first(files, plugin);
        }
        match &mut *state {
            State::Kept(kept) => {
                kept.grow(plugin, sections);
                Ok(Handed { file: kept.file, level: kept.level, sections: kept.sections })
            }
            State::Without(status) => Err(*status),
            State::Unasked => Err(FAILED),
        }
    }

    /// Removes the file. The memory stays: the library may have threads that write to it.
    pub(crate) fn remove_file(&self) {
        let mut state = self.0.lock();
        match &*state {
            State::Kept(kept) => kept.file.remove(),
            // It would be left over.
            State::Unasked => *state = State::Without(STOPPED),
            State::Without(_) => {}
        }
    }

    pub(crate) fn counts(&self) -> CellCounts {
        match &*self.0.lock() {
            State::Kept(kept) => CellCounts { sections: kept.sections, pages_lost: kept.file.pages_lost() },
            State::Unasked | State::Without(_) => CellCounts::default(),
        }
    }
}

fn first(files: Option<&CellFiles>, plugin: &str) -> State {
    let Some(files) = files.filter(|files| files.level != Level::NONE) else {
        return State::Without(NOT_FOUND);
    };
    match files.create(plugin) {
        // A library is never closed, so its memory is never unmapped.
        Ok(file) => State::Kept(Kept {
            file: Box::leak(Box::new(file)),
            level: files.level,
            sections: 1,
            is_full_logged: false,
        }),
        Err(error) => {
            let next_step = "make room in `rpc_state.directory`, or set another, and restart";
            tracing::warn!(plugin, %error, next_step, "Plugin runs without RPC state");
            State::Without(FAILED)
        }
    }
}

impl Kept {
    /// Adds sections until there are so many, or no room for another.
    fn grow(&mut self, plugin: &str, sections: u32) {
        let sections_max = Capacity::default().sections_max;
        while u32::from(self.sections) < sections.min(sections_max.into()) {
            if !self.file.grow(self.sections + 1) {
                self.log_full(plugin);
                return;
            }
            self.sections += 1;
        }
    }

    fn log_full(&mut self, plugin: &str) {
        if !self.is_full_logged {
            let file = self.file.path().display();
            let next_step = "make room in `rpc_state.directory`";
            tracing::warn!(plugin, %file, next_step, "RPC state is incomplete: its file cannot grow");
        }
        self.is_full_logged = true;
    }
}
