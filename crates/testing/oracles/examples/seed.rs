//! Writes the seeds into `tests/data`: those of our own encoders, and what others wrote as the crates' golden tests have
//! it. `cargo run -p oracles --example seed`
#![expect(
    clippy::unwrap_used,
    reason = "a tool for who writes oracles: a missing file is the reader's to see"
)]

use std::fs;
use std::path::{Path, PathBuf};

use oracles::seeds::{self, chunk, frames};

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut all = seeds::seeds();
    let pcq = crates.join("interfaces/counters/tests/data/pcq");
    let windows = hex(&fs::read_to_string(pcq.join("windows11_query_counter_data.hex")).unwrap());
    all.push(("pcq_query_data", "windows11".to_owned(), windows));
    for path in files(&pcq) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let stub = || chunk(&hex(&fs::read_to_string(&path).unwrap()));
        // Opnum 1 has several.
        let opnum = name.split("_op").nth(1).and_then(|opnum| opnum[..1].parse::<u8>().ok());
        match opnum {
            Some(opnum) if name.starts_with("request") => {
                all.push(("pcq_requests", name, [vec![opnum], stub()].concat()));
            }
            Some(opnum) => {
                let method = match (opnum, &name[12..]) {
                    (1, "_counter") => 2,
                    (1, "_english_name") => 3,
                    (1, "_english_names") => 4,
                    (1, "_provider") => 5,
                    (2, _) => 6,
                    (3 | 4, _) => 9,
                    (5, _) => 7,
                    (6, _) => 10,
                    (7, _) => 8,
                    (other, _) => other,
                };
                all.push(("pcq_responses", name, [vec![method], stub()].concat()));
            }
            None => {}
        }
    }
    // A list of countersets as Samba would begin to tell it.
    let samba = ["open_local_machine", "open_key", "close_key", "query_info_key", "enum_key", "enum_key_end"]
        .map(|name| crates.join(format!("interfaces/counters/tests/data/rrp/response_{name}.hex")))
        .map(|path| chunk(&hex(&fs::read_to_string(path).unwrap())));
    all.push(("rrp_responses", "samba".to_owned(), samba.concat()));
    for path in files(&crates.join("interfaces/counters/tests/data/rrp")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let opnum = match &name[..] {
            "request_open_local_machine" => 2,
            "request_close_key" => 5,
            "request_enum_key" => 9,
            "request_open_key" => 15,
            "request_query_info_key" => 16,
            _ => continue,
        };
        let stub = chunk(&hex(&fs::read_to_string(&path).unwrap()));
        all.push(("rrp_requests", name, [vec![opnum], stub].concat()));
    }
    for path in files(&crates.join("interfaces/com/tests/data/dcom")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = hex(&fs::read_to_string(&path).unwrap());
        // What comes before the OBJREF in the response: ORPCTHAT, a pointer, and two lengths.
        let begin = if name == "response_create_instance" { 8 + 4 + 4 + 4 } else { 0 };
        if !name.starts_with("request") {
            all.push(("dcom_objref", name, bytes[begin..].to_vec()));
        }
    }
    // Samba's map in two pages, and where its registry is.
    let samba = ["lookup", "lookup_rest", "map_tcp"]
        .map(|name| crates.join(format!("rpc/rpc/tests/data/endpoints/epm/response_{name}.hex")))
        .map(|path| chunk(&hex(&fs::read_to_string(path).unwrap())));
    all.push(("epm_responses", "samba".to_owned(), samba.concat()));
    for folder in ["rpc/ms-smb2/tests/data", "testing/windows-sim/tests/data"] {
        for path in files(&crates.join(folder)) {
            all.extend(recording(&path));
        }
    }
    #[cfg(feature = "exporter")]
    all.extend(
        oracles::exporter::seeds::seeds()
            .into_iter()
            .map(|(oracle, name, bytes)| (oracle, name.to_owned(), bytes)),
    );
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (oracle, name, bytes) in all {
        fs::create_dir_all(data.join(oracle)).unwrap();
        fs::write(data.join(oracle).join(name), bytes).unwrap();
    }
}

/// A conversation with Samba or impacket: streams, messages, and the tokens in between.
fn recording(path: &Path) -> Vec<seeds::Seed> {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let all = |tag: &str| -> Vec<Vec<u8>> {
        lines.clone().filter(|(found, _)| *found == tag).map(|(_, digits)| hex(digits)).collect()
    };
    let is_server = !all("done").is_empty();
    let stream = if is_server { all("client") } else { all("server") }.concat();
    let oracle = if is_server { "smb2_server" } else { "smb2_client" };
    let mut seeds = vec![(oracle, name.to_owned(), [&[0, 255], &stream[..]].concat())];
    for (index, message) in frames(&stream).iter().enumerate() {
        seeds.push(("smb2_messages", format!("{name}-{index}"), message.to_vec()));
    }
    // Tokens of a client for a server, and the other way round.
    let tokens: Vec<u8> = all("token").iter().flat_map(|token| chunk(token)).collect();
    if !tokens.is_empty() {
        seeds.push(("ssp_tokens", format!("{name}-client"), [&[1], &tokens[..]].concat()));
    }
    for token in all("continue") {
        seeds.push(("ssp_tokens", format!("{name}-server"), [&[5], &chunk(&token)[..]].concat()));
    }
    seeds
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Hexadecimal digits, and comments after `#`.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .lines()
        .flat_map(|line| line.split('#').next().unwrap().bytes())
        .filter(u8::is_ascii_hexdigit)
        .collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
