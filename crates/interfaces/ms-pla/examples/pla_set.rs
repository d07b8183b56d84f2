//! Reads a data collector set as XML, and writes it as a host gets it: UTF-16 with a byte order mark.
//!
//! `cargo run -p ms-pla --example pla_set -- FILE WRITTEN`

use std::error::Error;

use ms_pla::xml::{DataCollectorSet, Limits};

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [file, written] = &files[..] else { return Err("two files are expected".into()) };
    let set = DataCollectorSet::read(&std::fs::read(file)?, &Limits::default())?;
    let text = format!("\u{feff}{}", set.to_xml()?);
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(written, bytes)?;
    Ok(())
}
