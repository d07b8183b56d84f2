//! What the exporter is configured with.

use std::fs;
use std::net::SocketAddr;

use super::SEGMENT;
use crate::Result;
use crate::stage::Stage;

/// Each counter type of the simulated host, and one of an object of version 1.
const COUNTERS: [&str; 2] = [r"\Counter Types(*)\*", r"\Memory\Available MBytes"];

/// Five sets that are configured, and one that is exported and wants the binary format.
pub(super) fn configuration(stage: &Stage<'_>, host: SocketAddr, postgresql: u16) -> Result<String> {
    let (set, password) = (stage.path("exported.xml"), stage.password_file()?);
    fs::write(&set, exported())?;
    let (files, set, password) = (stage.path("files"), set.display(), password.display());
    let (files, address, port) = (files.display(), host.ip(), host.port());
    let counters = format!("counters: ['{}', '{}'], sample_interval: 1s", COUNTERS[0], COUNTERS[1]);
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
