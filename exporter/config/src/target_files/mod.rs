//! `target_files:`, targets in files that may change at any time.

mod groups;
mod instances;
mod target_file;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

pub use self::groups::parse_target_file;
pub use self::instances::SharedInstance;

use self::instances::shared_instances;
use self::target_file::TargetFile;
use super::document::Config;
use super::file_pattern::FilePattern;
use super::node::Position;
use super::problem::{Problem, Report};
use super::target::Target;

/// Maximum of targets of a process, those of the configuration included.
pub const TARGETS_MAX: usize = 50_000;
/// Maximum of target files that are read.
const FILES_MAX: usize = 1_000;
/// Maximum of problems of one file that are shown to people.
const PROBLEMS_SHOWN_MAX: usize = 10;

/// The files of `target_files`, as of the last [`TargetFiles::look`].
///
/// They are looked at every few seconds instead of being watched by inotify: a look is one listing and one `stat` a
/// file, sees every way of replacing one (rename, symbolic link, Kubernetes' folder of links), works over NFS and in
/// containers, and no queue can overflow. What tells a change are device, inode, size and both times.
///
/// An entry in which something is wrong costs that entry: a host is skipped; a group's hosts go on as they were when the
/// group was good. A file that is no list at all counts with its last good contents as long as it is there.
#[derive(Debug)]
pub struct TargetFiles {
    config: Arc<Config>,
    files: BTreeMap<PathBuf, TargetFile>,
    listing: Vec<Result<Vec<PathBuf>, String>>,
    is_over_limit: bool,
}

/// What a look found.
#[derive(Clone, Debug)]
pub enum FileNews {
    /// A file was read; so many targets are in it.
    Read(PathBuf, usize),
    /// A file is broken; so many of its targets are from when it was good, and stay.
    Broken(Report, usize),
    /// A file is gone, and its targets with it.
    Gone(PathBuf),
    /// The files of a pattern cannot be listed; so many of them are known, and stay.
    Unlisted(PathBuf, String, usize),
    /// There are more files than are read.
    TooMany(usize),
}

/// One file, for metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    pub path: String,
    /// Whether the last reading succeeded.
    pub is_good: bool,
    /// Targets in it, those that were refused included.
    pub targets: usize,
    /// Targets in it that are not asked as it says: something is wrong with them, their name was taken, or they were too
    /// many.
    pub refused: usize,
    /// What is wrong with the file or its entries, as lines; the beginning of it.
    pub problems: Vec<String>,
    /// When it was written, in Unix seconds.
    pub modified_unix_s: Option<f64>,
}

/// A target, or a group of them, that is not asked as it is in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub file: PathBuf,
    /// Its name, or the first one of the group.
    pub name: String,
    pub problem: Problem,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a target that is not asked as it is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// Something is wrong with it, and it is not asked.
    Skipped,
    /// Something is wrong with its group, and it is asked as it was when that was good.
    Kept,
    /// Another one has its name, or there are too many, and it is not asked.
    Surplus,
}

/// All targets that should be asked.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// First those of the configuration, then those of the files in the order of their paths; names are unique.
    pub targets: Vec<Target>,
    /// Those that are not among them.
    pub refused: Vec<Refused>,
    /// Those that are one to Prometheus.
    pub shared: Vec<SharedInstance>,
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
        for file in self.files.values_mut() {
            file.forget_contents();
            file.targets.retain(|target| config.knows_names_of(target));
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
            self.files.entry(path.clone()).or_insert_with(|| TargetFile::new(path));
        }
        let config = Arc::clone(&self.config);
        let named = config.target_files.iter().filter(|pattern| !pattern.has_wildcards());
        let named: HashSet<PathBuf> = named.map(FilePattern::path).collect();
        self.files.retain(|path, file| {
            let is_named = named.contains(path);
            news.extend(file.look(&config, now, is_named));
            is_named || !file.is_gone()
        });
        news
    }

    /// The configuration's targets and the files', each name once: the first one has it.
    #[must_use]
    pub fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        let mut names: HashMap<&str, (Option<&Path>, Position)> = HashMap::new();
        let mut files: Vec<Option<&Path>> = Vec::new();
        for target in &self.config.targets {
            names.insert(&target.name, (None, target.position));
            files.push(None);
            wanted.targets.push(target.clone());
        }
        for (path, file) in &self.files {
            wanted.refused.extend(file.skipped.iter().flat_map(|skipped| refused(path, skipped)));
            for target in &file.targets {
                let taken = names.get(target.name.as_str());
                if taken.is_none() && wanted.targets.len() < TARGETS_MAX {
                    names.insert(&target.name, (Some(path), target.position));
                    files.push(Some(path));
                    wanted.targets.push(target.clone());
                    continue;
                }
                let (message, hint) = match taken {
                    Some((None, first)) => (
                        format!("`{}` is already in the configuration, on line {}", target.name, first.line),
                        ANOTHER_NAME,
                    ),
                    Some((Some(file), first)) => (
                        format!("`{}` is already defined, in {}:{}", target.name, file.display(), first.line),
                        ANOTHER_NAME,
                    ),
                    None => (
                        format!("there are more than {TARGETS_MAX} targets"),
                        "run another exporter for the rest",
                    ),
                };
                let problem = Problem {
                    position: Some(target.position),
                    path: String::new(),
                    message,
                    hint: Some(hint.to_owned()),
                };
                let (file, name) = (path.clone(), target.name.clone());
                wanted.refused.push(Refused { file, name, problem, fate: Fate::Surplus });
            }
        }
        wanted.shared = shared_instances(wanted.targets.iter().zip(files));
        wanted
    }

    /// What is known of each file.
    #[must_use]
    pub fn states(&self, refused: &[Refused]) -> Vec<FileState> {
        let states = self.files.iter().map(|(path, file)| {
            let of_file = || refused.iter().filter(|refused| refused.file == *path);
            let surplus = of_file().filter(|refused| refused.fate == Fate::Surplus).count();
            let problems = of_file().map(|refused| refused.problem.clone()).collect();
            let of_entries = Report::new(&path.display().to_string(), problems);
            let report = file.broken_by().unwrap_or(&of_entries);
            FileState {
                path: path.display().to_string(),
                is_good: file.is_good(),
                targets: file.all_targets(),
                refused: file.skipped_targets() + surplus,
                problems: report.to_string().lines().take(PROBLEMS_SHOWN_MAX).map(str::to_owned).collect(),
                modified_unix_s: file.modified().and_then(|modified| {
                    let since = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
                    Some(since.as_secs_f64())
                }),
            }
        });
        states.collect()
    }

    /// All targets, for who checks a configuration.
    ///
    /// # Errors
    /// One report for each file in which something is wrong.
    pub fn check(config: &Arc<Config>, now: SystemTime) -> Result<Wanted, Vec<Report>> {
        let mut files = Self::new(Arc::clone(config));
        let mut reports: BTreeMap<String, Report> = BTreeMap::new();
        let mut push = |file: String, problem: Problem| {
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
                FileNews::Broken(report, _) => {
                    report.problems.into_iter().for_each(|problem| push(report.file.clone(), problem));
                }
                FileNews::Gone(path) => {
                    push(path.display().to_string(), whole("there is no such file".to_owned()));
                }
                FileNews::Unlisted(path, error, _) => push(path.display().to_string(), whole(error)),
                FileNews::TooMany(count) => {
                    let message = format!("{count} files match, the limit is {FILES_MAX}");
                    push("target_files".to_owned(), whole(message));
                }
            }
        }
        let wanted = files.wanted();
        for Refused { file, problem, .. } in &wanted.refused {
            push(file.display().to_string(), problem.clone());
        }
        reports.values_mut().for_each(|report| report.problems.sort_by_key(|problem| problem.position));
        if reports.is_empty() { Ok(wanted) } else { Err(reports.into_values().collect()) }
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
                        let known = self.files.keys().filter(|path| pattern.lists(path)).count();
                        news.push(FileNews::Unlisted(pattern.path(), error.clone(), known));
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

/// What is wrong with an entry of a file, each thing for itself.
fn refused<'a>(path: &'a Path, skipped: &'a Skipped) -> impl Iterator<Item = Refused> + 'a {
    let fate = if skipped.kept > 0 { Fate::Kept } else { Fate::Skipped };
    skipped.problems.iter().map(move |problem| {
        let name = skipped.names.first().unwrap_or(&problem.path).clone();
        Refused { file: path.to_owned(), name, problem: problem.clone(), fate }
    })
}

const ANOTHER_NAME: &str = "give one of them another `__param_name`";

/// Maximum skipped entries that are kept; further ones are only counted.
const SKIPPED_MAX: usize = 10_000;

/// What is in a target file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetList {
    /// Those that can be asked.
    pub targets: Vec<Target>,
    /// Those that cannot, in the order of the file.
    pub skipped: Vec<Skipped>,
    /// How many targets that are.
    pub skipped_targets: usize,
}

/// One target, or a group of them, that cannot be asked as it is in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What is wrong with it: at least one thing.
    pub problems: Vec<Problem>,
    /// The names of its targets.
    pub names: Vec<String>,
    /// Something is wrong with what holds for a whole group: its targets go on as they last were.
    pub is_group: bool,
    /// The number of its targets that go on.
    pub kept: usize,
}

impl TargetList {
    /// Everything that is wrong with the entries.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.skipped.iter().flat_map(|skipped| &skipped.problems)
    }

    /// One target cannot be asked, and says why.
    fn skip_target(&mut self, name: String, problems: Vec<Problem>) {
        self.skipped_targets += 1;
        self.skip(Skipped { problems, names: vec![name], is_group: false, kept: 0 });
    }

    /// None of a group can be asked, and the group says why.
    fn skip_group(&mut self, problems: Vec<Problem>, names: Vec<String>) {
        self.skipped_targets += names.len().max(1);
        self.skip(Skipped { problems, names, is_group: true, kept: 0 });
    }

    fn skip(&mut self, skipped: Skipped) {
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(skipped);
        }
    }

    /// Adds what the targets of skipped groups were in `before`, when the file was read last.
    fn keep_from(&mut self, before: &[Target]) {
        if before.is_empty() || !self.skipped.iter().any(|skipped| skipped.is_group) {
            return;
        }
        let before: HashMap<&str, &Target> =
            before.iter().map(|target| (target.name.as_str(), target)).collect();
        let mut there: HashSet<String> = self.targets.iter().map(|target| target.name.clone()).collect();
        for skipped in self.skipped.iter_mut().filter(|skipped| skipped.is_group) {
            for name in &skipped.names {
                if let Some(target) = before.get(name.as_str())
                    && there.insert(name.clone())
                {
                    self.targets.push((*target).clone());
                    skipped.kept += 1;
                }
            }
        }
    }
}
