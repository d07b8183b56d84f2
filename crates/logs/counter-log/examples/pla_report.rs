//! Writes the report of an invented run, with rules applied, as `report.xml` and `report.html` into a folder, so that other
//! programs can look at it.

use std::error::Error;
use std::path::PathBuf;

use counter_log::data_manager::reports::{Limits, Options, Report, Rules};

#[path = "../tests/it/data_manager/reports/run.rs"]
mod run;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: pla_report FOLDER")?);
    let run = run::Run::server();
    let mut report = Report::build(None, &run.source(), &Options::default());
    let rules = Rules::read_document(include_bytes!("../tests/data/reports/rules.xml"), &Limits::default())?;
    let mut documents = |_: &str| Err("there are no documents".to_owned());
    let applied = rules.apply(&mut report, &mut documents, &Limits::default());
    println!("{} warnings, {} units of work", applied.warnings, applied.work);
    applied.failures.iter().for_each(|failure| println!("{failure}"));
    std::fs::write(folder.join("report.xml"), report.to_xml())?;
    std::fs::write(folder.join("report.html"), report.to_html())?;
    Ok(())
}
