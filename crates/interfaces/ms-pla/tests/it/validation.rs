//! [MS-PLA] 2.2.2.11: each rule of the table, and the notes 3 to 5 of section 7.

use ms_pla::xml::{DataCollectorSet, Limits, Validation};
use ms_pla::{Category, CommitMode};
use proptest::prelude::*;
use wire::HResult;

fn set(inner: &str) -> DataCollectorSet {
    let xml = format!("<DataCollectorSet>{inner}</DataCollectorSet>");
    DataCollectorSet::read(xml.as_bytes(), &Limits::default()).unwrap()
}

/// What is found, each as `property: word`.
fn found_as(inner: &str, validation: Validation) -> Vec<String> {
    let word = |code| match code {
        HResult::PLA_S_PROPERTY_IGNORED => "ignored",
        HResult::PLA_E_PROPERTY_CONFLICT => "conflict",
        HResult::PLA_E_EXE_FULL_PATH_REQUIRED => "full path",
        HResult::PLA_E_NETWORK_EXE_NOT_VALID => "network",
        _ => "another code",
    };
    let findings = set(inner).validate_as(validation);
    findings.iter().map(|finding| format!("{}: {}", finding.property, word(finding.code))).collect()
}

fn found(inner: &str) -> Vec<String> {
    found_as(inner, Validation::default())
}

/// What is found of a collector, without its path, where the set has a `SegmentMaxSize`.
fn of(kind: &str, inner: &str) -> Vec<String> {
    within(kind, inner, "<SegmentMaxSize>5</SegmentMaxSize>", Validation::default())
}

fn within(kind: &str, inner: &str, set: &str, validation: Validation) -> Vec<String> {
    let found = found_as(&format!("{set}<{kind}>{inner}</{kind}>"), validation);
    let path = format!("{kind}[1]/");
    found
        .into_iter()
        .map(|finding| finding.strip_prefix(&path).map(str::to_owned).unwrap_or(finding))
        .collect()
}

const STRICT: Validation =
    Validation { category: Category::Server, mode: CommitMode::CREATE_OR_MODIFY, is_strict: true };
const COUNTERS: &str = "PerformanceCounterDataCollector";
const TRACE: &str = "TraceDataCollector";
const CONFIGURATION: &str = "ConfigurationDataCollector";
const ALERT: &str = "AlertDataCollector";
const API_TRACE: &str = "ApiTracingDataCollector";
/// All that is about files.
const FILES: &str = "<FileName>f</FileName><FileNameFormat>1</FileNameFormat><FileNameFormatPattern>N</FileNameFormatPattern>\
    <LogAppend>0</LogAppend><LogCircular>0</LogCircular><LogOverwrite>0</LogOverwrite>";

#[test]
fn a_set_without_a_mistake_has_no_finding() {
    assert!(found("").is_empty());
    let whole = format!(
        "<SegmentMaxSize>5</SegmentMaxSize><SubdirectoryFormat>3</SubdirectoryFormat>\
         <SubdirectoryFormatPattern>N</SubdirectoryFormatPattern><Task>t</Task><TaskArguments>x</TaskArguments>\
         <{COUNTERS}><LogFileFormat>3</LogFileFormat>{FILES}</{COUNTERS}>"
    );
    assert_eq!(found(&whole), [""; 0]);
}

#[test]
fn arguments_without_a_task_are_ignored() {
    assert_eq!(found("<TaskArguments>x</TaskArguments>"), ["TaskArguments: ignored"]);
    assert_eq!(found("<TaskArguments>x</TaskArguments><Task> </Task>"), ["TaskArguments: ignored"]);
    assert_eq!(found("<TaskArguments>x</TaskArguments><Task>t</Task>"), [""; 0]);
    // Exported sets have the element in any case.
    assert_eq!(found("<TaskArguments>\n\t</TaskArguments>"), [""; 0]);
}

#[test]
fn a_pattern_of_a_folder_that_is_not_used_is_ignored() {
    let pattern = "<SubdirectoryFormatPattern>N</SubdirectoryFormatPattern>";
    for (format, expected) in [
        ("", 1),
        ("<SubdirectoryFormat>2</SubdirectoryFormat>", 1),
        ("<SubdirectoryFormat>3</SubdirectoryFormat>", 0),
    ] {
        assert_eq!(found(&format!("{format}{pattern}")).len(), expected, "{format}");
    }
}

#[test]
fn a_circular_file_needs_a_size() {
    let binary = "<LogFileFormat>3</LogFileFormat>";
    for (kind, more) in [(COUNTERS, binary), (TRACE, "")] {
        for size in ["", "<SegmentMaxSize>0</SegmentMaxSize>"] {
            let of = |value: &str| {
                within(
                    kind,
                    &format!("{more}<LogCircular>{value}</LogCircular>"),
                    size,
                    Validation::default(),
                )
            };
            assert_eq!(of("-1"), ["LogCircular: conflict"], "{kind} {size}");
            assert_eq!(of("0"), ["LogCircular: ignored"], "{kind} {size}");
        }
        for value in ["-1", "0"] {
            assert_eq!(of(kind, &format!("{more}<LogCircular>{value}</LogCircular>")), [""; 0], "{kind}");
        }
    }
}

#[test]
fn a_file_is_either_continued_or_replaced() {
    let append = |value: &str| format!("<LogFileFormat>3</LogFileFormat><LogAppend>{value}</LogAppend>");
    for replaced in ["<LogOverwrite>-1</LogOverwrite>", "<LogCircular>1</LogCircular>"] {
        for kind in [COUNTERS, TRACE] {
            assert_eq!(
                of(kind, &format!("{}{replaced}", append("-1"))),
                ["LogAppend: conflict"],
                "{kind} {replaced}"
            );
            assert_eq!(
                of(kind, &format!("{}{replaced}", append("0"))),
                ["LogAppend: ignored"],
                "{kind} {replaced}"
            );
        }
    }
    assert_eq!(of(COUNTERS, &format!("{}<LogOverwrite>0</LogOverwrite>", append("-1"))), [""; 0]);
}

#[test]
fn a_pattern_of_a_file_that_is_used_is_not_empty() {
    for kind in [COUNTERS, TRACE, CONFIGURATION] {
        for format in [1, 3] {
            let format = format!("<FileNameFormat>{format}</FileNameFormat>");
            assert_eq!(of(kind, &format), ["FileNameFormatPattern: conflict"], "{kind}");
            assert_eq!(
                of(kind, &format!("{format}<FileNameFormatPattern> </FileNameFormatPattern>")).len(),
                1,
                "{kind}"
            );
            assert!(
                of(kind, &format!("{format}<FileNameFormatPattern>N</FileNameFormatPattern>")).is_empty(),
                "{kind}"
            );
        }
        assert!(of(kind, "<FileNameFormat>2</FileNameFormat>").is_empty(), "{kind}");
    }
}

#[test]
fn text_and_databases_of_counters_ignore_how_files_are_continued() {
    let flags = "<LogAppend>-1</LogAppend><LogCircular>-1</LogCircular><LogOverwrite>-1</LogOverwrite>";
    let of = |format: u8, more: &str| {
        of(COUNTERS, &format!("<LogFileFormat>{format}</LogFileFormat>{flags}{more}"))
    };
    for text in [0, 1] {
        assert_eq!(of(text, ""), ["LogAppend: ignored"]);
    }
    let mut sql = of(2, "<DataSourceName>logs</DataSourceName>");
    sql.sort();
    assert_eq!(sql, ["LogAppend: ignored", "LogCircular: ignored", "LogOverwrite: ignored"]);
    assert!(of(2, "").contains(&"DataSourceName: conflict".to_owned()));
    assert!(of(2, "<DataSourceName></DataSourceName>").contains(&"DataSourceName: conflict".to_owned()));
    assert!(!of(3, "").contains(&"DataSourceName: conflict".to_owned()));
}

#[test]
fn what_writes_no_file_ignores_all_that_is_about_files() {
    let all =
        ["FileName", "FileNameFormat", "FileNameFormatPattern", "LogAppend", "LogCircular", "LogOverwrite"]
            .map(|property| format!("{property}: ignored"));
    assert_eq!(of(ALERT, FILES), all);
    for (mode, expected) in [(1, 0), (2, 6), (3, 6), (4, 6)] {
        assert_eq!(of(TRACE, &format!("<StreamMode>{mode}</StreamMode>{FILES}")).len(), expected, "{mode}");
    }
    // What is ignored is in no conflict.
    assert_eq!(
        of(ALERT, "<FileNameFormat>1</FileNameFormat><LogAppend>1</LogAppend><LogOverwrite>1</LogOverwrite>")
            .len(),
        3
    );
    let path = "<ExePath>c:\\a.exe</ExePath>";
    assert_eq!(of(API_TRACE, &format!("{path}{FILES}")), all[1..], "note 3: nothing of the file's name");
    let strict = within(API_TRACE, &format!("{path}{FILES}"), "", STRICT);
    assert_eq!(strict, all);
    assert_eq!(of(CONFIGURATION, FILES), ["LogAppend: ignored", "LogCircular: ignored"]);
}

#[test]
fn the_program_of_a_trace_of_functions_has_a_full_path_on_the_host() {
    for (path, expected) in [
        ("", "ExePath: conflict"),
        ("  ", "ExePath: conflict"),
        ("notepad.exe", "ExePath: full path"),
        (r"windows\notepad.exe", "ExePath: full path"),
        (r"\windows\notepad.exe", "ExePath: full path"),
        ("c:notepad.exe", "ExePath: full path"),
        (r"\\server\share\a.exe", "ExePath: network"),
        ("//server/share/a.exe", "ExePath: network"),
        (r"\\?\UNC\server\share\a.exe", "ExePath: network"),
        (r"C:\windows\notepad.exe", ""),
        ("c:/windows/notepad.exe", ""),
        (r"\\?\C:\windows\notepad.exe", ""),
        (r"%windir%\notepad.exe", ""),
    ] {
        let found = of(API_TRACE, &format!("<ExePath>{path}</ExePath>"));
        assert_eq!(found.concat(), expected, "{path}");
    }
    assert_eq!(of(API_TRACE, ""), ["ExePath: conflict"]);
}

#[test]
fn a_function_that_is_recorded_and_is_not_keeps_the_set_from_being_stored() {
    let of = |include: &str, exclude: &str| {
        let lists = format!("<IncludeApis>{include}</IncludeApis><ExcludeApis>{exclude}</ExcludeApis>");
        set(&format!("<{API_TRACE}>{lists}</{API_TRACE}>")).commit_error()
    };
    let error = Some(HResult::PLA_E_CONFLICT_INCL_EXCL_API);
    assert_eq!(of("advapi32!RegOpenKeyW", "ADVAPI32!RegOpenKeyW"), error);
    assert_eq!(of("advapi32!RegOpenKeyW", "advapi32!RegOpenKeyA"), None);
}

const KERNEL: &str = "{9E814AAD-3204-11D2-9A82-006008A86939}";

#[test]
fn a_trace_of_the_kernel_has_no_other_provider() {
    let provider = |guid: &str| format!("<TraceDataProvider><Guid>{guid}</Guid></TraceDataProvider>");
    let other = provider("{00000000-1111-2222-3333-444444444444}");
    assert_eq!(of(TRACE, &format!("{}{other}", provider(KERNEL))), ["TraceDataProviders: conflict"]);
    assert_eq!(of(TRACE, &provider(KERNEL)), [""; 0]);
    assert_eq!(of(TRACE, &format!("{other}{other}")), [""; 0]);
}

#[test]
fn windows_says_nothing_of_buffers_and_of_the_session_of_the_kernel() {
    // Notes 4 and 5.
    let buffers = "<MaximumBuffers>2</MaximumBuffers><MinimumBuffers>3</MinimumBuffers>";
    assert_eq!(of(TRACE, buffers), [""; 0]);
    assert_eq!(within(TRACE, buffers, "", STRICT), ["MaximumBuffers: conflict"]);
    assert_eq!(within(TRACE, &buffers.replace('3', "2"), "", STRICT), [""; 0]);
    let guid = |guid: &str| {
        format!("<Guid>{guid}</Guid><TraceDataProvider><Guid>{KERNEL}</Guid></TraceDataProvider>")
    };
    let wrong = guid("{00000000-1111-2222-3333-444444444444}");
    assert_eq!(of(TRACE, &wrong), [""; 0]);
    assert_eq!(within(TRACE, &wrong, "", STRICT), ["Guid: conflict"]);
    for right in [KERNEL, "{00000000-0000-0000-0000-000000000000}"] {
        assert_eq!(within(TRACE, &guid(right), "", STRICT), [""; 0]);
    }
}

#[test]
fn sessions_ignore_what_is_about_folders_and_schedules() {
    let all = "<RootPath>r</RootPath><Duration>1</Duration><Description>d</Description><Keyword>k</Keyword><Segment>0</Segment>\
        <SegmentMaxDuration>1</SegmentMaxDuration><SegmentMaxSize>5</SegmentMaxSize><SerialNumber>1</SerialNumber>\
        <Subdirectory>s</Subdirectory><SubdirectoryFormat>1</SubdirectoryFormat>\
        <SubdirectoryFormatPattern>N</SubdirectoryFormatPattern><Task>t</Task><TaskArguments>a</TaskArguments>\
        <Schedule><Days>1</Days></Schedule>";
    let trace = format!("<{TRACE}>{FILES}</{TRACE}>");
    let inner = format!("{all}{trace}{trace}");
    let expected = [
        "Description",
        "Duration",
        "Keywords",
        "RootPath",
        "Schedules",
        "Segment",
        "SegmentMaxDuration",
        "SerialNumber",
        "Subdirectory",
        "SubdirectoryFormat",
        "SubdirectoryFormatPattern",
        "Task",
        "TaskArguments",
        "TraceDataCollector[1]/FileNameFormat",
        "TraceDataCollector[1]/FileNameFormatPattern",
        "TraceDataCollector[1]/LogOverwrite",
    ];
    for category in [Category::TraceSession, Category::BootTraceSession] {
        let mut found = found_as(&inner, Validation { category, ..Validation::default() });
        found.sort();
        assert_eq!(found, expected.map(|property| format!("{property}: ignored")), "{category:?}");
    }
    assert_eq!(found(&inner), [""; 0], "another category does not");
}

#[test]
fn a_session_that_runs_keeps_its_buffers_and_its_file() {
    let running = "<BufferSize>8</BufferSize><MinimumBuffers>1</MinimumBuffers><NumberOfBuffers>2</NumberOfBuffers>\
        <ClockType>1</ClockType><ProcessMode>0</ProcessMode><PreallocateFile>0</PreallocateFile>";
    let inner = format!("<SegmentMaxSize>5</SegmentMaxSize><{TRACE}>{running}</{TRACE}>");
    let found = |category, mode| found_as(&inner, Validation { category, mode, is_strict: false });
    let update = CommitMode(CommitMode::UPDATE_RUNNING_INSTANCE.0 | CommitMode::MODIFY.0);
    let expected =
        ["BufferSize", "MinimumBuffers", "NumberOfBuffers", "ClockType", "ProcessMode", "PreallocateFile"];
    let mut all = vec!["SegmentMaxSize: ignored".to_owned()];
    all.extend(expected.map(|property| format!("{TRACE}[1]/{property}: ignored")));
    assert_eq!(found(Category::TraceSession, update), all);
    assert_eq!(found(Category::TraceSession, CommitMode::MODIFY), [""; 0]);
    assert_eq!(found(Category::Server, update), [""; 0]);
}

#[test]
fn collectors_are_counted_by_their_kind_from_one() {
    let text = "<LogFileFormat>0</LogFileFormat>";
    let inner = format!("<{ALERT}/><{COUNTERS}/><{COUNTERS}>{text}<LogAppend>0</LogAppend></{COUNTERS}>");
    assert_eq!(found(&inner), ["PerformanceCounterDataCollector[2]/LogAppend: ignored"]);
}

#[test]
fn exported_sets_have_what_windows_tolerates() {
    let counters = include_bytes!("../data/exports/counters.xml");
    let set = DataCollectorSet::read(counters, &Limits::default()).unwrap();
    let found: Vec<(String, bool)> =
        set.validate().into_iter().map(|finding| (finding.property, finding.code.is_success())).collect();
    // The file is circular without a size, and its pattern is empty.
    let expected = [("FileNameFormatPattern", false), ("LogCircular", false), ("LogAppend", true)];
    let path = |property| format!("PerformanceCounterDataCollector[1]/{property}");
    assert_eq!(found, expected.map(|(property, is_ignored)| (path(property), is_ignored)));
}

proptest! {
    /// Whatever a set has: each property is named once, and is one that the set has or lacks.
    #[test]
    fn each_property_is_named_once(
        format in 0..5_u32, name_format in 0..4_u32, flags in proptest::collection::vec(proptest::option::of(any::<bool>()), 3),
        size in proptest::option::of(0..2_u32), is_session: bool, is_strict: bool, kinds in proptest::collection::vec(0..5_usize, 0..6),
    ) {
        let elements = ["LogAppend", "LogCircular", "LogOverwrite"].iter().zip(&flags);
        let flags: String = elements
            .filter_map(|(name, flag)| flag.map(|flag| format!("<{name}>{}</{name}>", u8::from(flag))))
            .collect();
        let inner = format!("<LogFileFormat>{format}</LogFileFormat><FileNameFormat>{name_format}</FileNameFormat>{flags}");
        let kinds = kinds.iter().map(|kind| [COUNTERS, TRACE, CONFIGURATION, ALERT, API_TRACE][*kind]);
        let collectors: String = kinds.map(|kind| format!("<{kind}>{inner}</{kind}>")).collect();
        let size = size.map_or(String::new(), |size| format!("<SegmentMaxSize>{size}</SegmentMaxSize>"));
        let category = if is_session { Category::TraceSession } else { Category::Server };
        let validation = Validation { category, mode: CommitMode::UPDATE_RUNNING_INSTANCE, is_strict };
        let set = set(&format!("{size}{collectors}"));
        let mut properties: Vec<String> = set.validate_as(validation).into_iter().map(|finding| finding.property).collect();
        let all = properties.len();
        properties.sort();
        properties.dedup();
        prop_assert_eq!(properties.len(), all);
        let strict = Validation { is_strict: true, ..validation };
        prop_assert!(set.validate_as(strict).len() >= all);
    }
}
