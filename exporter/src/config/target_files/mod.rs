//! `target_files:`, targets in files that may change at any time.

mod groups;
mod known;
mod pattern;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use self::known::Known;
use super::document::Config;
use super::problem::{Problem, Report};
use super::target::Target;
use super::tree::Position;

pub use self::groups::parse_target_file;
pub use self::pattern::FilePattern;

/// So many targets a process has at the most, those of the configuration included.
pub const TARGETS_MAX: usize = 50_000;
/// So many target files are read.
const FILES_MAX: usize = 1_000;

/// The files of `target_files`, as of the last [`TargetFiles::look`].
///
/// They are looked at every few seconds instead of being watched by inotify: a look is one listing and one `stat` a
/// file, sees every way of replacing one (rename, symbolic link, Kubernetes' folder of links), works over NFS and in
/// containers, and no queue can overflow. What tells a change are device, inode, size and both times.
///
/// A file in which something is wrong counts with its last good contents as long as it is there.
#[derive(Debug)]
pub struct TargetFiles {
    config: Arc<Config>,
    files: BTreeMap<PathBuf, Known>,
    listing: Vec<Result<Vec<PathBuf>, String>>,
    is_over_limit: bool,
}

/// What a look found.
#[derive(Clone, Debug)]
pub enum FileNews {
    /// A file was read; so many targets are in it.
    Read(PathBuf, usize),
    /// A file is broken; its last good targets stay.
    Broken(Report),
    /// A file is gone, and its targets with it.
    Gone(PathBuf),
    /// The files of a pattern cannot be listed; those that are known stay.
    Unlisted(PathBuf, String),
    /// There are more files than are read.
    TooMany(usize),
}

/// One file, for metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// Its path.
    pub path: String,
    /// Whether the last reading succeeded.
    pub is_good: bool,
    /// Targets in it, those that were refused included.
    pub targets: usize,
    /// Targets in it whose name was taken, or that were too many.
    pub refused: usize,
    /// When it was written, in Unix seconds.
    pub modified_unix_s: Option<f64>,
}

/// A target that is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its file.
    pub file: PathBuf,
    /// Where in the file.
    pub position: Position,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// All targets that should be asked.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// First those of the configuration, then those of the files in the order of their paths; names are unique.
    pub targets: Vec<Target>,
    /// Those that are not among them.
    pub refused: Vec<Refused>,
}

impl TargetFiles {
    /// The files of a configuration; none was looked at yet.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        Self { config, files: BTreeMap::new(), listing: Vec::new(), is_over_limit: false }
    }

    /// From now on these are the configuration's files. Each is read again at the next look, since what it says may
    /// mean something else now; until it is good, its last good targets stay, as far as the names in them still exist.
    pub fn set_config(&mut self, config: Arc<Config>) {
        for known in self.files.values_mut() {
            known.forget_contents();
            known.targets.retain(|target| config.knows_names_of(target));
        }
        let is_listed = |path: &Path| config.target_files.iter().any(|pattern| pattern.lists(path));
        self.files.retain(|path, _| is_listed(path));
        (self.listing, self.is_over_limit) = (Vec::new(), false);
        self.config = config;
    }

    /// Looks for what changed by `now`.
    pub fn look(&mut self, now: SystemTime) -> Vec<FileNews> {
        let mut news = Vec::new();
        for path in self.list(&mut news) {
            self.files.entry(path).or_default();
        }
        let config = Arc::clone(&self.config);
        let named = config.target_files.iter().filter(|pattern| !pattern.has_wildcards());
        let named: HashSet<PathBuf> = named.map(FilePattern::path).collect();
        self.files.retain(|path, known| {
            let is_named = named.contains(path);
            news.extend(known.look(path, &config, now, is_named));
            is_named || !known.is_gone()
        });
        news
    }

    /// The configuration's targets and the files', each name once: the first one has it.
    #[must_use]
    pub fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        let mut names: HashMap<&str, (Option<&Path>, Position)> = HashMap::new();
        let of_config = self.config.targets.iter().map(|target| (None, target));
        let of_files = self
            .files
            .iter()
            .flat_map(|(path, known)| known.targets.iter().map(move |target| (Some(path.as_path()), target)));
        for (file, target) in of_config.chain(of_files) {
            let reason = match names.get(target.name.as_str()) {
                Some((None, first)) => {
                    format!("`{}` is in the configuration already, on line {}", target.name, first.line)
                }
                Some((Some(first_file), first)) => {
                    format!("`{}` is there already, in {}:{}", target.name, first_file.display(), first.line)
                }
                None if wanted.targets.len() >= TARGETS_MAX => {
                    format!("there are more than {TARGETS_MAX} targets")
                }
                None => {
                    names.insert(&target.name, (file, target.position));
                    wanted.targets.push(target.clone());
                    continue;
                }
            };
            let file = file.unwrap_or(Path::new("")).to_owned();
            wanted.refused.push(Refused {
                file,
                position: target.position,
                name: target.name.clone(),
                reason,
            });
        }
        wanted
    }

    /// What is known of each file.
    #[must_use]
    pub fn states(&self, refused: &[Refused]) -> Vec<FileState> {
        let mut counts: HashMap<&Path, usize> = HashMap::new();
        refused.iter().for_each(|refused| *counts.entry(&refused.file).or_default() += 1);
        let states = self.files.iter().map(|(path, known)| FileState {
            path: path.display().to_string(),
            is_good: known.is_good(),
            targets: known.targets.len(),
            refused: counts.get(path.as_path()).copied().unwrap_or(0),
            modified_unix_s: known.modified.and_then(|modified| {
                let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
                Some(since.as_secs_f64())
            }),
        });
        states.collect()
    }

    /// Everything that is wrong with the files now, for who checks a configuration; and all targets.
    ///
    /// # Errors
    /// One report for each file in which something is wrong.
    pub fn check(config: &Arc<Config>, now: SystemTime) -> Result<Vec<Target>, Vec<Report>> {
        let mut files = Self::new(Arc::clone(config));
        let mut reports: BTreeMap<String, Report> = BTreeMap::new();
        let mut tell = |file: String, problem: Problem| {
            reports
                .entry(file)
                .or_insert_with_key(|file| Report::new(file, Vec::new()))
                .problems
                .push(problem);
        };
        let whole = |message| Problem { position: None, path: String::new(), message, hint: None };
        for news in files.look(now) {
            match news {
                FileNews::Read(..) => {}
                FileNews::Broken(report) => {
                    report.problems.into_iter().for_each(|problem| tell(report.file.clone(), problem));
                }
                FileNews::Gone(path) => {
                    tell(path.display().to_string(), whole("there is no such file".to_owned()));
                }
                FileNews::Unlisted(path, error) => tell(path.display().to_string(), whole(error)),
                FileNews::TooMany(count) => {
                    let message = format!("{count} files match, the limit is {FILES_MAX}");
                    tell("target_files".to_owned(), whole(message));
                }
            }
        }
        let Wanted { targets, refused } = files.wanted();
        for Refused { file, position, reason, .. } in refused {
            let hint = Some(format!("give one of them another `{}`", groups::NAME));
            let problem = Problem { position: Some(position), path: String::new(), message: reason, hint };
            tell(file.display().to_string(), problem);
        }
        if reports.is_empty() { Ok(targets) } else { Err(reports.into_values().collect()) }
    }

    /// The files that match now. Of a pattern that cannot be listed those that did before.
    fn list(&mut self, news: &mut Vec<FileNews>) -> Vec<PathBuf> {
        let config = Arc::clone(&self.config);
        self.listing.resize_with(config.target_files.len(), || Ok(Vec::new()));
        let mut paths = Vec::new();
        for (pattern, listed) in config.target_files.iter().zip(&mut self.listing) {
            match pattern.files() {
                Ok(files) => *listed = Ok(files),
                Err(error) => {
                    let error = format!("cannot be listed: {error}");
                    if listed.as_ref().err() != Some(&error) {
                        news.push(FileNews::Unlisted(pattern.path(), error.clone()));
                    }
                    // What is known of its files is still in `self.files`, and each of them is looked at anyway.
                    *listed = Err(error);
                }
            }
            paths.extend(listed.iter().flatten().cloned());
        }
        paths.sort_unstable();
        paths.dedup();
        if paths.len() > FILES_MAX {
            if !std::mem::replace(&mut self.is_over_limit, true) {
                news.push(FileNews::TooMany(paths.len()));
            }
            // Those that are known stay, so that one file more does not push another one out.
            let room = FILES_MAX.saturating_sub(self.files.len());
            paths.retain(|path| !self.files.contains_key(path));
            paths.truncate(room);
        } else {
            self.is_over_limit = false;
        }
        paths
    }
}
