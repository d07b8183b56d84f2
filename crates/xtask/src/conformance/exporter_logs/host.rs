//! What the exporter is configured with.

use std::fs;
use std::net::SocketAddr;

use super::SEGMENT;
use crate::Result;
use crate::stage::Stage;

/// Each counter type of the simulated host, and one of an object of version 1.
const COUNTERS: [&str; 2] = [r"\Counter Types(*)\*", r"\Memory\Available MBytes"];

/// As many columns as the header and a few records need for a megabyte, the smallest size that ends a segment.
const WIDE: &str = r"\Processor Information(*)\*";
/// Logical processors of the simulated host.
pub(super) const PROCESSORS: &str = "384";

/// Six sets that are configured, and two that are exported: one of them wants the binary format, the other one has segments by
/// time, whose start and number are in the names of folders and files.
pub(super) fn configuration(stage: &Stage<'_>, host: SocketAddr, postgresql: u16) -> Result<String> {
    let [set, in_time, files] = ["exported.xml", "timed.xml", "files"].map(|name| stage.path(name));
    fs::write(&set, exported())?;
    fs::write(&in_time, timed())?;
    let password = stage.password_file()?;
    let (set, in_time, files, password) =
        (set.display(), in_time.display(), files.display(), password.display());
    let (address, port, [types, memory]) = (host.ip(), host.port(), COUNTERS);
    let counters = format!("counters: ['{types}', '{memory}'], sample_interval: 1s");
    let segment = format!("segment: {{records: {SEGMENT}}}");
    Ok(format!(
        "web: {{listen: ['127.0.0.1:0']}}
plugins: {{load: [pcq, pla]}}
storage: {{directory: '{files}'}}
identities: {{sim: {{kind: ntlm, domain: SIM, username: metrics, password_file: '{password}', allow_hosts: [{address}]}}}}
transports: {{sim: {{smb: {{encryption: preferred, port: {port}}}}}}}
modules:
  all: {{plugin: pcq, countersets: [{{name: Counter Types}}]}}
  logs:
    plugin: pla
    log_format: csv
    databases:
      archive: {{sqlite: archive.db}}
      warehouse: {{postgresql: {{host: 127.0.0.1, port: {postgresql}, database: perf, user: perf, password_file: '{password}', tls: off}}}}
    sets:
      - {{name: Csv, {counters}, {segment}, time_zone: Asia/Kolkata}}
      - {{name: Tsv, {counters}, {segment}, log_format: tsv}}
      - {{name: Parquet, {counters}, {segment}, log_format: parquet}}
      - {{name: Lite, {counters}, log_format: sql, database: archive}}
      - {{name: Warehouse, {counters}, log_format: sql, database: warehouse, time_zone: Asia/Kolkata}}
      - {{file: '{set}'}}
      - {{file: '{in_time}', time_zone: Asia/Kolkata}}
      - {{name: Sized, counters: ['{types}', '{memory}', '{WIDE}'], sample_interval: 1s, segment: {{size: 1MB}}}}
targets:
  - {{name: sim, host: {address}, identity: sim, transport: sim, modules: [all, logs], interval: 1s}}
"
    ))
}

/// As Performance Monitor exports a set, which has run six times.
fn exported() -> String {
    let counters = COUNTERS.map(|counter| format!("<Counter>{counter}</Counter>")).concat();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<DataCollectorSet>
  <Name>Exported</Name>
  <Segment>-1</Segment>
  <SerialNumber>7</SerialNumber>
  <SubdirectoryFormat>3</SubdirectoryFormat>
  <SubdirectoryFormatPattern>yyyyMMdd\-NNNNNN</SubdirectoryFormatPattern>
  <PerformanceCounterDataCollector>
    <DataCollectorType>0</DataCollectorType>
    <Name>DataCollector01</Name>
    <FileName>Types</FileName>
    <FileNameFormat>0</FileNameFormat>
    <LogFileFormat>3</LogFileFormat>
    <SampleInterval>1</SampleInterval>
    <SegmentMaxRecords>{SEGMENT}</SegmentMaxRecords>
    {counters}
  </PerformanceCounterDataCollector>
  <DataManager><Enabled>-1</Enabled></DataManager>
</DataCollectorSet>
"#
    )
}

/// A set that begins a segment every three seconds. Names of its files have the pattern, the computer, the serial number, and the
/// month to the minute.
fn timed() -> String {
    let counters = COUNTERS.map(|counter| format!("<Counter>{counter}</Counter>")).concat();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<DataCollectorSet>
  <Name>Timed</Name>
  <Segment>-1</Segment>
  <SegmentMaxDuration>3</SegmentMaxDuration>
  <Subdirectory>part</Subdirectory>
  <SubdirectoryFormat>513</SubdirectoryFormat>
  <SubdirectoryFormatPattern>\-yyyyDDD</SubdirectoryFormatPattern>
  <PerformanceCounterDataCollector>
    <DataCollectorType>0</DataCollectorType>
    <Name>DataCollector01</Name>
    <FileName>Types</FileName>
    <FileNameFormat>16899</FileNameFormat>
    <FileNameFormatPattern>\-NN\-HHmmss</FileNameFormatPattern>
    <LogFileFormat>0</LogFileFormat>
    <SampleInterval>1</SampleInterval>
    {counters}
  </PerformanceCounterDataCollector>
</DataCollectorSet>
"#
    )
}
