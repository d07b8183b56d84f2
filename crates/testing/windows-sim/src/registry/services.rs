//! The services of a host: those that each Windows Server has, and some of what is installed.

use super::RegistryValue;

/// A service below `Services`.
pub(super) struct ServiceKey {
    pub(super) name: &'static str,
    display_name: &'static str,
    start: u32,
    service_type: u32,
    image_path: &'static str,
    object_name: Option<&'static str>,
}

const BOOT: u32 = 0;
const SYSTEM: u32 = 1;
const AUTOMATIC: u32 = 2;
const MANUAL: u32 = 3;
const DISABLED: u32 = 4;

const DRIVER: u32 = 0x1;
const FILE_SYSTEM: u32 = 0x2;
const OWN: u32 = 0x10;
const SHARED: u32 = 0x20;

const LOCAL_SYSTEM: &str = "LocalSystem";
const LOCAL_SERVICE: &str = r"NT AUTHORITY\LocalService";
const NETWORK_SERVICE: &str = r"NT AUTHORITY\NetworkService";

macro_rules! svchost {
    ($group:literal) => {
        concat!(r"%SystemRoot%\System32\svchost.exe -k ", $group)
    };
}

const fn driver(
    name: &'static str,
    display_name: &'static str,
    start: u32,
    path: &'static str,
) -> ServiceKey {
    ServiceKey { name, display_name, start, service_type: DRIVER, image_path: path, object_name: None }
}

const fn file_system(
    name: &'static str,
    display_name: &'static str,
    start: u32,
    path: &'static str,
) -> ServiceKey {
    ServiceKey { name, display_name, start, service_type: FILE_SYSTEM, image_path: path, object_name: None }
}

const fn own(
    name: &'static str,
    display_name: &'static str,
    start: u32,
    image_path: &'static str,
    account: &'static str,
) -> ServiceKey {
    ServiceKey { name, display_name, start, service_type: OWN, image_path, object_name: Some(account) }
}

const fn shared(
    name: &'static str,
    display_name: &'static str,
    start: u32,
    image_path: &'static str,
    account: &'static str,
) -> ServiceKey {
    ServiceKey { name, display_name, start, service_type: SHARED, image_path, object_name: Some(account) }
}

impl ServiceKey {
    /// The values of its key.
    pub(super) fn values(&self) -> Vec<(&'static str, RegistryValue)> {
        let mut values = vec![
            ("DisplayName", RegistryValue::text(self.display_name)),
            ("ErrorControl", RegistryValue::dword(1)),
            ("ImagePath", RegistryValue::expandable(self.image_path)),
            ("Start", RegistryValue::dword(self.start)),
            ("Type", RegistryValue::dword(self.service_type)),
        ];
        values.extend(self.object_name.map(|account| ("ObjectName", RegistryValue::text(account))));
        values
    }
}

pub(super) static SERVICES: [ServiceKey; 42] = [
    driver("ACPI", "Microsoft ACPI Driver", BOOT, r"System32\drivers\ACPI.sys"),
    driver("AFD", "Ancillary Function Driver for Winsock", SYSTEM, r"\SystemRoot\system32\drivers\afd.sys"),
    own(
        "AppIDSvc",
        "Application Identity",
        MANUAL,
        svchost!("LocalServiceNetworkRestricted -p"),
        LOCAL_SERVICE,
    ),
    shared("AppXSvc", "AppX Deployment Service", MANUAL, svchost!("wsappx -p"), LOCAL_SYSTEM),
    own(
        "BFE",
        "Base Filtering Engine",
        AUTOMATIC,
        svchost!("LocalServiceNoNetworkFirewall -p"),
        LOCAL_SERVICE,
    ),
    shared("BITS", "Background Intelligent Transfer Service", MANUAL, svchost!("netsvcs -p"), LOCAL_SYSTEM),
    shared("CryptSvc", "Cryptographic Services", AUTOMATIC, svchost!("NetworkService -p"), NETWORK_SERVICE),
    shared("DcomLaunch", "DCOM Server Process Launcher", AUTOMATIC, svchost!("DcomLaunch -p"), LOCAL_SYSTEM),
    shared("Dhcp", "DHCP Client", AUTOMATIC, svchost!("LocalServiceNetworkRestricted -p"), LOCAL_SERVICE),
    driver("disk", "Disk Driver", BOOT, r"System32\drivers\disk.sys"),
    shared("Dnscache", "DNS Client", AUTOMATIC, svchost!("NetworkService -p"), NETWORK_SERVICE),
    shared(
        "EventLog",
        "Windows Event Log",
        AUTOMATIC,
        svchost!("LocalServiceNetworkRestricted -p"),
        LOCAL_SERVICE,
    ),
    shared("EventSystem", "COM+ Event System", AUTOMATIC, svchost!("LocalService -p"), LOCAL_SERVICE),
    driver("HTTP", "HTTP Service", MANUAL, r"system32\drivers\HTTP.sys"),
    shared("iphlpsvc", "IP Helper", AUTOMATIC, svchost!("NetSvcs -p"), LOCAL_SYSTEM),
    shared("KeyIso", "CNG Key Isolation", MANUAL, r"%SystemRoot%\system32\lsass.exe", LOCAL_SYSTEM),
    shared("LanmanServer", "Server", AUTOMATIC, svchost!("smbsvcs"), LOCAL_SYSTEM),
    shared("LanmanWorkstation", "Workstation", AUTOMATIC, svchost!("NetworkService -p"), NETWORK_SERVICE),
    shared(
        "lmhosts",
        "TCP/IP NetBIOS Helper",
        MANUAL,
        svchost!("LocalServiceNetworkRestricted -p"),
        LOCAL_SERVICE,
    ),
    own(
        "MSDTC",
        "Distributed Transaction Coordinator",
        AUTOMATIC,
        r"%SystemRoot%\System32\msdtc.exe",
        NETWORK_SERVICE,
    ),
    own(
        "MSSQLSERVER",
        "SQL Server (MSSQLSERVER)",
        AUTOMATIC,
        r#""C:\Program Files\Microsoft SQL Server\MSSQL15.MSSQLSERVER\MSSQL\Binn\sqlservr.exe" -sMSSQLSERVER"#,
        r"NT Service\MSSQLSERVER",
    ),
    driver("NDIS", "NDIS System Driver", BOOT, r"system32\drivers\ndis.sys"),
    shared("Netlogon", "Netlogon", AUTOMATIC, r"%SystemRoot%\system32\lsass.exe", LOCAL_SYSTEM),
    file_system("Ntfs", "Ntfs", MANUAL, r"system32\drivers\ntfs.sys"),
    own(
        "PerfHost",
        "Performance Counter DLL Host",
        MANUAL,
        r"%SystemRoot%\SysWow64\perfhost.exe",
        LOCAL_SERVICE,
    ),
    own("pla", "Performance Logs & Alerts", MANUAL, svchost!("LocalServiceNoNetwork -p"), LOCAL_SERVICE),
    shared("ProfSvc", "User Profile Service", AUTOMATIC, svchost!("netsvcs -p"), LOCAL_SYSTEM),
    shared("RemoteRegistry", "Remote Registry", AUTOMATIC, svchost!("localService -p"), LOCAL_SERVICE),
    shared("RpcSs", "Remote Procedure Call (RPC)", AUTOMATIC, svchost!("rpcss -p"), NETWORK_SERVICE),
    shared("SamSs", "Security Accounts Manager", AUTOMATIC, r"%SystemRoot%\system32\lsass.exe", LOCAL_SYSTEM),
    shared("Schedule", "Task Scheduler", AUTOMATIC, svchost!("netsvcs -p"), LOCAL_SYSTEM),
    own("Spooler", "Print Spooler", AUTOMATIC, r"%SystemRoot%\System32\spoolsv.exe", LOCAL_SYSTEM),
    file_system("srv2", "Server SMB 2.xxx Driver", MANUAL, r"System32\DRIVERS\srv2.sys"),
    shared(
        "SstpSvc",
        "Secure Socket Tunneling Protocol Service",
        DISABLED,
        svchost!("LocalService -p"),
        LOCAL_SERVICE,
    ),
    driver("Tcpip", "TCP/IP Protocol Driver", BOOT, r"System32\drivers\tcpip.sys"),
    shared("TermService", "Remote Desktop Services", MANUAL, svchost!("NetworkService"), NETWORK_SERVICE),
    own(
        "TrustedInstaller",
        "Windows Modules Installer",
        MANUAL,
        r"%SystemRoot%\servicing\TrustedInstaller.exe",
        LOCAL_SYSTEM,
    ),
    shared("W32Time", "Windows Time", AUTOMATIC, svchost!("LocalService"), LOCAL_SERVICE),
    shared("W3SVC", "World Wide Web Publishing Service", AUTOMATIC, svchost!("iissvcs"), LOCAL_SYSTEM),
    shared("Winmgmt", "Windows Management Instrumentation", AUTOMATIC, svchost!("netsvcs -p"), LOCAL_SYSTEM),
    shared(
        "WinRM",
        "Windows Remote Management (WS-Management)",
        AUTOMATIC,
        svchost!("NetworkService -p"),
        NETWORK_SERVICE,
    ),
    shared("wuauserv", "Windows Update", MANUAL, svchost!("netsvcs -p"), LOCAL_SYSTEM),
];
