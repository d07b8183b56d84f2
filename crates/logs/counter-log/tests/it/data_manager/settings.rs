use counter_log::data_manager::{FolderAction, FolderLimits, ManagerSettings};
use ms_pla::xml::{DataCollectorSet, Limits};
use ms_pla::{FolderActionSteps, ResourcePolicy};

#[test]
fn an_exported_set_says_what_its_data_manager_does() {
    let set = r"<DataCollectorSet><DataManager><Enabled>-1</Enabled><CheckBeforeRunning>-1</CheckBeforeRunning>
        <MinFreeDisk>200</MinFreeDisk><MaxSize>1024</MaxSize><MaxFolderCount>100</MaxFolderCount>
        <ResourcePolicy>1</ResourcePolicy><ReportFileName>report.html</ReportFileName>
        <RuleTargetFileName>report.xml</RuleTargetFileName><EventsFileName></EventsFileName>
        <FolderAction><Size>10</Size><Age>1</Age><Actions>3</Actions><SendCabTo></SendCabTo></FolderAction>
        <FolderAction><Size>0</Size><Age>168</Age><Actions>26</Actions><SendCabTo>\\s\x</SendCabTo></FolderAction>
        </DataManager></DataCollectorSet>";
    let set = DataCollectorSet::read(set.as_bytes(), &Limits::default()).unwrap();
    let settings = ManagerSettings::from(set.data_manager.as_ref().unwrap());
    let action = |size_min_mb, age_min_days, steps, send_cab_to: &str| FolderAction {
        age_min_days,
        size_min_mb,
        steps: FolderActionSteps(steps),
        send_cab_to: send_cab_to.to_owned(),
    };
    let expected = ManagerSettings {
        is_enabled: true,
        checks_before_running: true,
        limits: FolderLimits { size_max_mb: 1024, free_disk_min_mb: 200, folders_max: 100 },
        policy: ResourcePolicy::DELETE_OLDEST,
        folder_actions: vec![action(10, 1, 3, ""), action(0, 168, 26, r"\\s\x")],
        report_files: vec!["report.xml".to_owned(), "report.html".to_owned()],
    };
    assert_eq!(settings, expected);
}
