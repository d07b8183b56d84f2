//! Collectors of counters, configurations, alerts and functions, by the properties that only they have.

use ms_pla::xml::{
    AlertDataCollector, ApiTracingDataCollector, ConfigurationDataCollector, PerformanceCounterDataCollector,
};
use ms_pla::{
    IAlertDataCollectorServer, IApiTracingDataCollectorServer, IConfigurationDataCollectorServer,
    IPerformanceCounterDataCollectorServer,
};
use rpc::ServerResult;
use wire::HResult;

use super::Calls;
use super::collector_record::{Body, Collector};
use super::item::Item;
use super::property::{Property, array, arrays, no_duplicates, numbers, properties, texts};
use crate::service::objects::Refusing;

mod counters {
    use ms_pla::performance_counter_data_collector::*;

    use super::*;

    impl Calls<'_, Item<Collector>> {
        fn counters<R>(
            &self,
            read: impl FnOnce(&mut PerformanceCounterDataCollector) -> R,
        ) -> Result<R, HResult> {
            match &mut self.object.part.lock().body {
                Body::Counters(record) => Ok(read(record)),
                _ => Err(HResult::E_NOINTERFACE),
            }
        }
    }

    #[rustfmt::skip]
    impl IPerformanceCounterDataCollectorServer for Calls<'_, Item<Collector>> {
        properties! {
            counters {
                data_source_name: get_data_source_name(GetDataSourceNameRequest) GetDataSourceNameReply, put_data_source_name(PutDataSourceNameRequest) PutDataSourceNameReply;
                log_file_format: get_log_file_format(GetLogFileFormatRequest) GetLogFileFormatReply, put_log_file_format(PutLogFileFormatRequest) PutLogFileFormatReply;
                segment_records_max: get_segment_max_records(GetSegmentMaxRecordsRequest) GetSegmentMaxRecordsReply, put_segment_max_records(PutSegmentMaxRecordsRequest) PutSegmentMaxRecordsReply;
            }
        }
        numbers! {
            counters {
                sample_interval_s = 15 in 1.. => get_sample_interval(GetSampleIntervalRequest) GetSampleIntervalReply, put_sample_interval(PutSampleIntervalRequest) PutSampleIntervalReply;
            }
        }
        arrays! {
            counters {
                counters [no_duplicates]: get_performance_counters(GetPerformanceCountersRequest) GetPerformanceCountersReply, put_performance_counters(PutPerformanceCountersRequest) PutPerformanceCountersReply;
            }
        }
    }
}

impl IPerformanceCounterDataCollectorServer for Refusing {}

mod configuration {
    use ms_pla::configuration_data_collector::*;

    use super::*;

    impl Calls<'_, Item<Collector>> {
        fn configuration<R>(
            &self,
            read: impl FnOnce(&mut ConfigurationDataCollector) -> R,
        ) -> Result<R, HResult> {
            match &mut self.object.part.lock().body {
                Body::Configuration(record) => Ok(read(record)),
                _ => Err(HResult::E_NOINTERFACE),
            }
        }
    }

    #[rustfmt::skip]
    impl IConfigurationDataCollectorServer for Calls<'_, Item<Collector>> {
        properties! {
            configuration {
                files_max: get_file_max_count(GetFileMaxCountRequest) GetFileMaxCountReply, put_file_max_count(PutFileMaxCountRequest) PutFileMaxCountReply;
                file_depth_max: get_file_max_recursive_depth(GetFileMaxRecursiveDepthRequest) GetFileMaxRecursiveDepthReply, put_file_max_recursive_depth(PutFileMaxRecursiveDepthRequest) PutFileMaxRecursiveDepthReply;
                files_size_max: get_file_max_total_size(GetFileMaxTotalSizeRequest) GetFileMaxTotalSizeReply, put_file_max_total_size(PutFileMaxTotalSizeRequest) PutFileMaxTotalSizeReply;
                queries_network_adapters: get_query_network_adapters(GetQueryNetworkAdaptersRequest) GetQueryNetworkAdaptersReply, put_query_network_adapters(PutQueryNetworkAdaptersRequest) PutQueryNetworkAdaptersReply;
                registry_depth_max: get_registry_max_recursive_depth(GetRegistryMaxRecursiveDepthRequest) GetRegistryMaxRecursiveDepthReply, put_registry_max_recursive_depth(PutRegistryMaxRecursiveDepthRequest) PutRegistryMaxRecursiveDepthReply;
                system_state_file: get_system_state_file(GetSystemStateFileRequest) GetSystemStateFileReply, put_system_state_file(PutSystemStateFileRequest) PutSystemStateFileReply;
            }
        }
        arrays! {
            configuration {
                files: get_files(GetFilesRequest) GetFilesReply, put_files(PutFilesRequest) PutFilesReply;
                management_queries: get_management_queries(GetManagementQueriesRequest) GetManagementQueriesReply, put_management_queries(PutManagementQueriesRequest) PutManagementQueriesReply;
                registry_keys [no_duplicates]: get_registry_keys(GetRegistryKeysRequest) GetRegistryKeysReply, put_registry_keys(PutRegistryKeysRequest) PutRegistryKeysReply;
            }
        }
    }
}

impl IConfigurationDataCollectorServer for Refusing {}

mod alert {
    use ms_pla::alert_data_collector::*;

    use super::*;

    impl Calls<'_, Item<Collector>> {
        fn alert<R>(&self, read: impl FnOnce(&mut AlertDataCollector) -> R) -> Result<R, HResult> {
            match &mut self.object.part.lock().body {
                Body::Alert(record) => Ok(read(record)),
                _ => Err(HResult::E_NOINTERFACE),
            }
        }
    }

    #[rustfmt::skip]
    impl IAlertDataCollectorServer for Calls<'_, Item<Collector>> {
        properties! {
            alert {
                logs_events: get_event_log(GetEventLogRequest) GetEventLogReply, put_event_log(PutEventLogRequest) PutEventLogReply;
                task: get_task(GetTaskRequest) GetTaskReply, put_task(PutTaskRequest) PutTaskReply;
                task_runs_as_self: get_task_run_as_self(GetTaskRunAsSelfRequest) GetTaskRunAsSelfReply, put_task_run_as_self(PutTaskRunAsSelfRequest) PutTaskRunAsSelfReply;
                task_arguments: get_task_arguments(GetTaskArgumentsRequest) GetTaskArgumentsReply, put_task_arguments(PutTaskArgumentsRequest) PutTaskArgumentsReply;
                task_user_text_arguments: get_task_user_text_arguments(GetTaskUserTextArgumentsRequest) GetTaskUserTextArgumentsReply, put_task_user_text_arguments(PutTaskUserTextArgumentsRequest) PutTaskUserTextArgumentsReply;
                trigger_data_collector_set: get_trigger_data_collector_set(GetTriggerDataCollectorSetRequest) GetTriggerDataCollectorSetReply, put_trigger_data_collector_set(PutTriggerDataCollectorSetRequest) PutTriggerDataCollectorSetReply;
            }
        }
        numbers! {
            alert {
                sample_interval_s = 15 in 1.. => get_sample_interval(GetSampleIntervalRequest) GetSampleIntervalReply, put_sample_interval(PutSampleIntervalRequest) PutSampleIntervalReply;
            }
        }
        arrays! {
            alert {
                alerts: get_alert_thresholds(GetAlertThresholdsRequest) GetAlertThresholdsReply, put_alert_thresholds(PutAlertThresholdsRequest) PutAlertThresholdsReply;
            }
        }
    }
}

impl IAlertDataCollectorServer for Refusing {}

mod api_trace {
    use ms_pla::api_tracing_data_collector::*;

    use super::*;

    impl Calls<'_, Item<Collector>> {
        fn api_trace<R>(&self, read: impl FnOnce(&mut ApiTracingDataCollector) -> R) -> Result<R, HResult> {
            match &mut self.object.part.lock().body {
                Body::ApiTrace(record) => Ok(read(record)),
                _ => Err(HResult::E_NOINTERFACE),
            }
        }
    }

    #[rustfmt::skip]
    impl IApiTracingDataCollectorServer for Calls<'_, Item<Collector>> {
        properties! {
            api_trace {
                logs_names_only: get_log_api_names_only(GetLogApiNamesOnlyRequest) GetLogApiNamesOnlyReply, put_log_api_names_only(PutLogApiNamesOnlyRequest) PutLogApiNamesOnlyReply;
                logs_recursively: get_log_apis_recursively(GetLogApisRecursivelyRequest) GetLogApisRecursivelyReply, put_log_apis_recursively(PutLogApisRecursivelyRequest) PutLogApisRecursivelyReply;
                exe_path: get_exe_path(GetExePathRequest) GetExePathReply, put_exe_path(PutExePathRequest) PutExePathReply;
                log_file_path: get_log_file_path(GetLogFilePathRequest) GetLogFilePathReply, put_log_file_path(PutLogFilePathRequest) PutLogFilePathReply;
            }
        }
        arrays! {
            api_trace {
                include_modules: get_include_modules(GetIncludeModulesRequest) GetIncludeModulesReply, put_include_modules(PutIncludeModulesRequest) PutIncludeModulesReply;
                include_apis: get_include_apis(GetIncludeApisRequest) GetIncludeApisReply, put_include_apis(PutIncludeApisRequest) PutIncludeApisReply;
                exclude_apis: get_exclude_apis(GetExcludeApisRequest) GetExcludeApisReply, put_exclude_apis(PutExcludeApisRequest) PutExcludeApisReply;
            }
        }
    }
}

impl IApiTracingDataCollectorServer for Refusing {}
