//! Checks a library's file before the dynamic linker reads it.

use object::elf::{DT_RPATH, DT_RUNPATH, ELFMAG, FileHeader64, SHT_NOBITS};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _};

type Header = FileHeader64<object::Endianness>;

/// The file is shorter than its headers say. The linker would map the missing part, and a read of it would end the
/// process with SIGBUS.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Truncated {
    /// The part that exceeds the file.
    pub(crate) part: &'static str,
    pub(crate) expected_bytes: u64,
}

/// Checks that all headers, segments and sections are in the file. Files other than 64-bit ELF are left to the
/// linker, which refuses them.
pub(crate) fn check_extents(file: &[u8]) -> Result<(), Truncated> {
    let end_of = |part, offset: u64, bytes: u64| match offset.saturating_add(bytes) {
        end if end <= file.len() as u64 => Ok(()),
        expected_bytes => Err(Truncated { part, expected_bytes }),
    };
    if !file.starts_with(&ELFMAG) {
        return Ok(());
    }
    end_of("header", 0, size_of::<Header>() as u64)?;
    let Ok(header) = Header::parse(file) else { return Ok(()) };
    let Ok(endian) = header.endian() else { return Ok(()) };
    let table = |count: u16, entry_bytes: u16| u64::from(count) * u64::from(entry_bytes);
    let segments_bytes = table(header.e_phnum(endian), header.e_phentsize(endian));
    end_of("program headers", header.e_phoff(endian), segments_bytes)?;
    let sections_bytes = table(header.e_shnum(endian), header.e_shentsize(endian));
    end_of("section headers", header.e_shoff(endian), sections_bytes)?;
    for segment in header.program_headers(endian, file).unwrap_or_default() {
        end_of("a segment", segment.p_offset(endian), segment.p_filesz(endian))?;
    }
    for section in header.section_headers(endian, file).unwrap_or_default() {
        if section.sh_type(endian) != SHT_NOBITS {
            end_of("a section", section.sh_offset(endian), section.sh_size(endian))?;
        }
    }
    Ok(())
}

/// Whether the library needs others from its own folder (`$ORIGIN`), so that it must be opened there.
pub(crate) fn needs_its_folder(file: &[u8]) -> bool {
    run_paths(file).is_some_and(|mut paths| paths.any(contains_origin))
}

fn run_paths(file: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let header = Header::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, file).ok()?;
    let (entries, link) = sections.dynamic(endian, file).ok()??;
    let strings = sections.strings(endian, file, link).ok()?;
    let is_path = move |tag| tag == DT_RUNPATH || tag == DT_RPATH;
    let paths = entries.iter().filter(move |entry| is_path(entry.d_tag(endian)));
    Some(paths.filter_map(move |entry| entry.string(endian, strings).ok()))
}

fn contains_origin(path: &[u8]) -> bool {
    [b"$ORIGIN".as_slice(), b"${ORIGIN}"]
        .iter()
        .any(|word| path.windows(word.len()).any(|part| part == *word))
}
