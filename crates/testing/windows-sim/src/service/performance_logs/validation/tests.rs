use ms_pla::xml::Limits;

use super::*;

/// What is found of a set with these elements: each path with `i` for ignored, or the result's name.
fn found(inner: &str, category: Category, mode: CommitMode) -> String {
    let xml = format!("<DataCollectorSet>{inner}</DataCollectorSet>");
    let set = DataCollectorSet::read(xml.as_bytes(), &Limits::default()).unwrap();
    let word = |result| match result {
        HResult::PLA_S_PROPERTY_IGNORED => "ignored",
        HResult::PLA_E_PROPERTY_CONFLICT => "conflict",
        HResult::PLA_E_EXE_FULL_PATH_REQUIRED => "full path",
        HResult::PLA_E_NETWORK_EXE_NOT_VALID => "network",
        _ => "another result",
    };
    let results = validate(&set, Some(category), mode);
    let shown = results.iter().map(|(path, result)| format!("{path}: {}", word(*result)));
    shown.collect::<Vec<_>>().join(", ")
}

/// A set that clients make, with one collector of a kind.
fn of(kind: &str, inner: &str) -> String {
    let found = found(&format!("<{kind}>{inner}</{kind}>"), Category::Server, CommitMode::MODIFY);
    found.replace(&format!("{kind}[1]/"), "")
}

const ALL_OF_FILES: &str = "<FileName>f</FileName><FileNameFormat>0</FileNameFormat><FileNameFormatPattern>N\
    </FileNameFormatPattern><LogAppend>0</LogAppend><LogCircular>0</LogCircular><LogOverwrite>0</LogOverwrite>";

#[test]
fn a_set_ignores_arguments_without_a_task_and_a_pattern_that_is_not_used() {
    let of_set = |inner: &str| found(inner, Category::Server, CommitMode::MODIFY);
    assert_eq!(of_set("<TaskArguments>x</TaskArguments>"), "TaskArguments: ignored");
    assert_eq!(of_set("<TaskArguments>x</TaskArguments><Task>t</Task>"), "");
    let pattern = "<SubdirectoryFormatPattern>N</SubdirectoryFormatPattern>";
    assert_eq!(of_set(pattern), "SubdirectoryFormatPattern: ignored");
    assert_eq!(of_set(&format!("{pattern}<SubdirectoryFormat>1</SubdirectoryFormat>")), "");
}

#[test]
fn the_format_of_a_log_of_counters_decides_what_is_ignored() {
    let of = |format: u8, inner: &str| {
        let inner = format!("<LogFileFormat>{format}</LogFileFormat>{inner}");
        of("PerformanceCounterDataCollector", &inner)
    };
    let flags = "<LogAppend>0</LogAppend><LogCircular>0</LogCircular><LogOverwrite>0</LogOverwrite>";
    for text in [0, 1] {
        assert_eq!(of(text, flags), "LogAppend: ignored");
    }
    assert_eq!(
        of(2, &format!("<DataSourceName>SQL:x!y</DataSourceName>{flags}")),
        "LogCircular: ignored, LogOverwrite: ignored, LogAppend: ignored"
    );
    assert_eq!(of(2, ""), "DataSourceName: conflict");
    assert_eq!(of(3, flags), "");
}

#[test]
fn a_log_is_appended_to_or_replaced_and_a_pattern_that_is_used_is_there() {
    for kind in ["PerformanceCounterDataCollector", "TraceDataCollector"] {
        let of = |inner: &str| of(kind, &format!("<LogFileFormat>3</LogFileFormat>{inner}"));
        assert_eq!(of("<FileNameFormat>1</FileNameFormat>"), "FileNameFormatPattern: conflict", "{kind}");
        assert_eq!(of("<LogCircular>-1</LogCircular>"), "LogCircular: conflict", "{kind}");
        let append = "<LogAppend>-1</LogAppend><LogOverwrite>-1</LogOverwrite>";
        assert_eq!(of(append), "LogAppend: conflict", "{kind}");
        let limited = format!(
            "<SegmentMaxSize>5</SegmentMaxSize><{kind}><LogFileFormat>3</LogFileFormat><LogCircular>-1</LogCircular></{kind}>"
        );
        assert_eq!(found(&limited, Category::Server, CommitMode::MODIFY), "", "{kind}");
    }
}

#[test]
fn what_writes_no_file_ignores_what_is_about_files() {
    let all = "FileName: ignored, FileNameFormat: ignored, FileNameFormatPattern: ignored, LogAppend: ignored, \
        LogCircular: ignored, LogOverwrite: ignored";
    assert_eq!(of("TraceDataCollector", &format!("<StreamMode>2</StreamMode>{ALL_OF_FILES}")), all);
    assert_eq!(of("AlertDataCollector", ALL_OF_FILES), all);
    assert_eq!(of("ConfigurationDataCollector", ALL_OF_FILES), "LogCircular: ignored, LogAppend: ignored");
}

#[test]
fn a_trace_of_functions_needs_the_whole_path_of_a_program_of_the_host() {
    let of = |inner: &str| of("ApiTracingDataCollector", inner);
    let path = |path: &str| format!("<ExePath>{path}</ExePath>");
    assert_eq!(of(&path(r"C:\Shop\shop.exe")), "");
    assert_eq!(of(""), "ExePath: conflict");
    assert_eq!(of(&path("shop.exe")), "ExePath: full path");
    assert_eq!(of(&path(r"\\files\shop.exe")), "ExePath: network");
    assert_eq!(
        of(&format!("{}{ALL_OF_FILES}", path(r"C:\shop.exe"))),
        "FileNameFormat: ignored, FileNameFormatPattern: ignored, LogAppend: ignored, LogOverwrite: ignored, \
         LogCircular: ignored"
    );
}

#[test]
fn a_session_ignores_folders_and_schedules_and_an_update_what_buffers_cannot_change() {
    let of_set = "<RootPath>C:</RootPath><Duration>1</Duration><Description>d</Description><Keyword>k</Keyword>\
        <Segment>0</Segment><SegmentMaxDuration>1</SegmentMaxDuration><SerialNumber>1</SerialNumber>\
        <Subdirectory>s</Subdirectory><SubdirectoryFormat>0</SubdirectoryFormat><Task>t</Task><Schedule/>";
    let of_trace = "<TraceDataCollector><BufferSize>8</BufferSize><MinimumBuffers>2</MinimumBuffers><NumberOfBuffers>2\
        </NumberOfBuffers><ClockType>1</ClockType><ProcessMode>0</ProcessMode><PreallocateFile>0</PreallocateFile>\
        <FlushTimer>1</FlushTimer></TraceDataCollector>";
    let names = [
        "RootPath",
        "Duration",
        "Description",
        "Keywords",
        "Segment",
        "SegmentMaxDuration",
        "SerialNumber",
        "Subdirectory",
        "SubdirectoryFormat",
        "Task",
        "Schedules",
    ];
    let ignored = |names: &[&str], at: &str| {
        names.iter().map(|name| format!("{at}{name}: ignored")).collect::<Vec<_>>().join(", ")
    };
    let buffers =
        ["BufferSize", "MinimumBuffers", "NumberOfBuffers", "ClockType", "ProcessMode", "PreallocateFile"];
    for category in [Category::TraceSession, Category::BootTraceSession] {
        assert_eq!(found(of_set, category, CommitMode::MODIFY), ignored(&names, ""));
        assert_eq!(found(of_trace, category, CommitMode::MODIFY), "");
        let update = found(of_trace, category, CommitMode::UPDATE_RUNNING_INSTANCE);
        assert_eq!(update, ignored(&buffers, "TraceDataCollector[1]/"));
    }
    for category in [Category::Server, Category::System] {
        let inner = format!("{of_set}{of_trace}");
        assert_eq!(found(&inner, category, CommitMode::UPDATE_RUNNING_INSTANCE), "");
    }
}
