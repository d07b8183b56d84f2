/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of version 1.3 without its comments, as it was when 1.4 began. Never change it: plugins that are compiled with
 * it prove that this host takes those of the version before. What everything means stands in abi/include. */
#ifndef PERFMON_PLUGIN_H
#define PERFMON_PLUGIN_H
#include <stdint.h>
#if UINTPTR_MAX != UINT64_MAX
#error "perfmon_plugin.h: this ABI is defined for 64-bit machines"
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define PERFMON_ABI_MAJOR 1
#define PERFMON_ABI_MINOR 3
typedef struct perfmon_str {
    const char *ptr;
    uint64_t len;
} perfmon_str;
typedef struct perfmon_bytes {
    const uint8_t *ptr;
    uint64_t len;
} perfmon_bytes;
typedef struct perfmon_label {
    perfmon_str name;
    perfmon_str value;
} perfmon_label;
typedef struct perfmon_verdict {
    uint32_t id;
    uint32_t verdict;
} perfmon_verdict;
typedef struct perfmon_array {
    const void *ptr;
    uint64_t len;
    uint32_t element_size;
    uint32_t reserved;
} perfmon_array;
typedef struct perfmon_array_mut {
    void *ptr;
    uint64_t len;
    uint32_t element_size;
    uint32_t reserved;
} perfmon_array_mut;
typedef struct perfmon_text {
    uint32_t size;
    uint32_t reserved;
    char *ptr;
    uint64_t capacity;
    uint64_t len;
} perfmon_text;
typedef int32_t perfmon_status;
#define PERFMON_OK 0
#define PERFMON_FULL 1
#define PERFMON_WAIT 2
#define PERFMON_DENIED 3
#define PERFMON_STALE 4
#define PERFMON_STOPPED 5
#define PERFMON_INVALID 6
#define PERFMON_UNSUPPORTED 7
#define PERFMON_FAILED 8
#define PERFMON_PANICKED 9
#define PERFMON_VERSION 10
#define PERFMON_NOT_FOUND 11
#define PERFMON_MODE_ASYNC 1
#define PERFMON_MODE_BLOCKING 2
#define PERFMON_KIND_UNKNOWN 0
#define PERFMON_KIND_GAUGE 1
#define PERFMON_KIND_COUNTER 2
#define PERFMON_KIND_INFO 3
#define PERFMON_KIND_HISTOGRAM 4
#define PERFMON_VALUE_F64 1
#define PERFMON_VALUE_U64 2
#define PERFMON_VALUE_I64 3
#define PERFMON_VALUE_HISTOGRAM 4
#define PERFMON_HISTOGRAM_BOUNDS_MAX 64
#define PERFMON_DISPLAY_NONE 0
#define PERFMON_DISPLAY_VALUE 1
#define PERFMON_DISPLAY_PERCENT 2
#define PERFMON_DISPLAY_DELTA 3
#define PERFMON_DISPLAY_RATE 4
#define PERFMON_DISPLAY_QUEUE_LENGTH 5
#define PERFMON_DISPLAY_PERCENT_OF_TIME 6
#define PERFMON_DISPLAY_PERCENT_NOT_OF_TIME 7
#define PERFMON_DISPLAY_PERCENT_OF_TIME_OF_MANY 8
#define PERFMON_DISPLAY_PERCENT_NOT_OF_TIME_OF_MANY 9
#define PERFMON_DISPLAY_PERCENT_OF_BASE 10
#define PERFMON_DISPLAY_PERCENT_OF_BASE_DELTA 11
#define PERFMON_DISPLAY_AVERAGE 12
#define PERFMON_DISPLAY_ELAPSED 13
#define PERFMON_DISPLAY_BASE 14
#define PERFMON_ACCEPTED 0
#define PERFMON_DROPPED_LIMIT 1
#define PERFMON_DROPPED_RULE 2
#define PERFMON_DROPPED_DUPLICATE 3
#define PERFMON_DROPPED_INVALID 4
#define PERFMON_DROPPED_UNKNOWN_FAMILY 5
#define PERFMON_DROPPED_UNSUPPORTED 6
#define PERFMON_START_TIME_UNKNOWN 0
#define PERFMON_START_TIME_KNOWN 1
#define PERFMON_START_TIME_INFERRED 2
#define PERFMON_OUTCOME_FULL 1
#define PERFMON_OUTCOME_PARTIAL 2
#define PERFMON_OUTCOME_FAILED 3
#define PERFMON_STAGE_DNS 1
#define PERFMON_STAGE_TCP 2
#define PERFMON_STAGE_SMB 3
#define PERFMON_STAGE_AUTH 4
#define PERFMON_STAGE_PIPE 5
#define PERFMON_STAGE_BIND 6
#define PERFMON_STAGE_QUERY 7
#define PERFMON_STAGE_DECODE 8
#define PERFMON_STAGE_PLUGIN 9
#define PERFMON_REASON_TIMEOUT 1
#define PERFMON_REASON_CANCELLED 2
#define PERFMON_REASON_NAME_NOT_FOUND 3
#define PERFMON_REASON_CONNECTION_REFUSED 4
#define PERFMON_REASON_UNREACHABLE 5
#define PERFMON_REASON_CONNECTION_RESET 6
#define PERFMON_REASON_PROTOCOL_ERROR 7
#define PERFMON_REASON_SMB1_ONLY 8
#define PERFMON_REASON_ENCRYPTION_REQUIRED 9
#define PERFMON_REASON_SIGNING_REQUIRED 10
#define PERFMON_REASON_WRONG_CREDENTIALS 11
#define PERFMON_REASON_ACCOUNT_LOCKED 12
#define PERFMON_REASON_ACCOUNT_DISABLED 13
#define PERFMON_REASON_PASSWORD_EXPIRED 14
#define PERFMON_REASON_LOGON_RESTRICTED 15
#define PERFMON_REASON_CREDENTIALS_WITHHELD 16
#define PERFMON_REASON_ACCESS_DENIED 17
#define PERFMON_REASON_REMOTE_REGISTRY_STOPPED 18
#define PERFMON_REASON_NOT_FOUND 19
#define PERFMON_REASON_LIMIT_EXCEEDED 20
#define PERFMON_REASON_MALFORMED_REPLY 21
#define PERFMON_REASON_SERVER_FAULT 22
#define PERFMON_REASON_BUSY 23
#define PERFMON_REASON_INTERNAL 24
#define PERFMON_REASON_OTHER 25
#define PERFMON_REASON_PANICKED 26
#define PERFMON_REASON_QUARANTINED 27
#define PERFMON_REASON_DECLARED 256
#define PERFMON_DECLARED_REASONS_MAX 64
#define PERFMON_LEVEL_ERROR 1
#define PERFMON_LEVEL_WARN 2
#define PERFMON_LEVEL_INFO 3
#define PERFMON_LEVEL_DEBUG 4
#define PERFMON_LEVEL_TRACE 5
#define PERFMON_ALERT_NONE 0
#define PERFMON_ALERT_OPENED 1
#define PERFMON_ALERT_OPEN 2
#define PERFMON_ALERT_CLOSED 3
#define PERFMON_CREDENTIAL_KIND_PASSWORD 1
#define PERFMON_CREDENTIAL_KIND_KERBEROS 2
#define PERFMON_CREDENTIAL_UNKNOWN 0
#define PERFMON_CREDENTIAL_ACCEPTED 1
#define PERFMON_CREDENTIAL_REJECTED 2
#define PERFMON_CREDENTIAL_LOCKED 3
#define PERFMON_OUTPUT_OUT 1
#define PERFMON_OUTPUT_ERR 2
#define PERFMON_OUTPUT_PROGRESS 3
#define PERFMON_SOURCE_LIBRARY 4294967295u
#define PERFMON_NO_MODULE 4294967295u
#define PERFMON_END_REMOVED 1
#define PERFMON_END_PROCESS 2
#define PERFMON_OPTION_REQUIRED 1u
#define PERFMON_OPTION_REPEATED 2u
#define PERFMON_SETTING_KIND_TEXT 1
#define PERFMON_SETTING_KIND_WORD 2
#define PERFMON_SETTING_KIND_INTEGER 3
#define PERFMON_SETTING_KIND_BOOL 4
#define PERFMON_SETTING_KIND_DURATION 5
#define PERFMON_SETTING_KIND_PORT 6
#define PERFMON_SETTING_SHOWN 1u
typedef struct perfmon_reason {
    uint32_t size;
    uint32_t reserved;
    perfmon_str word;
    perfmon_str sentence;
    perfmon_str next_step;
} perfmon_reason;
typedef struct perfmon_setting {
    uint32_t size;
    uint32_t kind;
    uint32_t flags;
    uint32_t reserved;
    perfmon_str key;
    perfmon_str help;
    perfmon_str default_value;
    perfmon_array words;
    int64_t min;
    int64_t max;
} perfmon_setting;
typedef struct perfmon_transport {
    uint32_t size;
    uint32_t reserved;
    perfmon_str kind;
    perfmon_str help;
    perfmon_array settings;
} perfmon_transport;
typedef struct perfmon_source {
    uint32_t size;
    uint32_t mode;
    perfmon_str name;
    perfmon_str help;
    perfmon_array reasons;
    perfmon_array shown;
    perfmon_array transports;
} perfmon_source;
typedef struct perfmon_option {
    uint32_t size;
    uint32_t flags;
    perfmon_str name;
    perfmon_str value_name;
    perfmon_str help;
} perfmon_option;
typedef struct perfmon_command {
    uint32_t size;
    uint32_t reserved;
    perfmon_str name;
    perfmon_str help;
    perfmon_array aliases;
    perfmon_array options;
} perfmon_command;
#define PERFMON_CONFIGURE_ON_DEMAND 1u
typedef struct perfmon_configure {
    uint32_t size;
    uint32_t source;
    uint64_t instance;
    uint64_t report;
    perfmon_str target;
    perfmon_str host;
    uint32_t port;
    uint32_t flags;
    perfmon_str identity;
    perfmon_str settings;
    perfmon_text *error_host;
    const struct perfmon_family *family;
} perfmon_configure;
typedef struct perfmon_collect {
    uint32_t size;
    uint32_t reserved;
    uint64_t instance;
    uint64_t collection;
    uint64_t now_ns;
    uint64_t deadline_ns;
} perfmon_collect;
typedef struct perfmon_end {
    uint32_t size;
    uint32_t reason;
    uint64_t instance;
    uint64_t now_ns;
    uint64_t deadline_ns;
} perfmon_end;
typedef struct perfmon_run {
    uint32_t size;
    uint32_t command;
    uint64_t run;
    perfmon_array args;
    uint32_t terminal_width;
    uint32_t reserved;
    perfmon_array configured;
} perfmon_run;
typedef struct perfmon_problem {
    uint32_t size;
    uint32_t reserved;
    perfmon_str pointer;
    perfmon_str message;
    perfmon_str suggestion;
} perfmon_problem;
typedef struct perfmon_family {
    uint32_t size;
    uint32_t kind;
    uint32_t value_kind;
    uint32_t reserved;
    perfmon_str space;
    perfmon_str object;
    perfmon_str item;
    perfmon_str part;
    perfmon_str unit;
    perfmon_str help;
    perfmon_str origin;
    perfmon_str base;
    uint32_t display;
    uint32_t reserved2;
    perfmon_array bounds;
} perfmon_family;
typedef struct perfmon_series {
    uint32_t size;
    uint32_t family;
    perfmon_array labels;
    int64_t start_time_unix_ns;
    uint32_t start_time_kind;
    uint32_t reserved;
} perfmon_series;
typedef struct perfmon_batch {
    uint32_t size;
    uint32_t value_kind;
    perfmon_array ids;
    perfmon_array values;
    perfmon_array timestamps;
    perfmon_array start_times;
} perfmon_batch;
typedef struct perfmon_histogram_batch {
    uint32_t size;
    uint32_t family;
    perfmon_array ids;
    perfmon_array counts;
    perfmon_array sums;
    perfmon_array timestamps;
    perfmon_array start_times;
} perfmon_histogram_batch;
typedef struct perfmon_stage {
    uint32_t size;
    uint32_t stage;
    uint64_t start_ns;
    uint64_t duration_ns;
    uint64_t calls;
    uint64_t bytes_in;
    uint64_t bytes_out;
} perfmon_stage;
typedef struct perfmon_completion {
    uint32_t size;
    uint32_t outcome;
    perfmon_array families;
    perfmon_array stages;
    uint32_t failure_stage;
    uint32_t failure_reason;
    perfmon_str message;
    uint64_t retry_after_ms;
} perfmon_completion;
typedef struct perfmon_log {
    uint32_t size;
    uint32_t level;
    perfmon_str message;
    perfmon_array fields;
} perfmon_log;
typedef struct perfmon_event {
    uint32_t size;
    uint32_t level;
    perfmon_str name;
    int64_t time_unix_ns;
    perfmon_str body;
    perfmon_array fields;
    uint32_t alert_state;
    uint32_t reserved;
    perfmon_str alert;
} perfmon_event;
typedef struct perfmon_credential_request {
    uint32_t size;
    uint32_t reserved;
    perfmon_str host;
    perfmon_str identity;
} perfmon_credential_request;
typedef struct perfmon_credential_lease {
    uint32_t size;
    uint32_t kind;
    uint64_t lease;
    perfmon_str domain_host;
    perfmon_str username_host;
    perfmon_bytes secret_host;
    uint32_t reason;
    uint32_t retry_after_ms;
} perfmon_credential_lease;
typedef struct perfmon_host {
    uint32_t size;
    uint16_t abi_major;
    uint16_t abi_minor;
    uint64_t library;
    uint32_t worker_threads;
    uint32_t reserved;
    perfmon_str program;
    uint64_t (*now_ns)(void);
    perfmon_status (*register_families)(uint64_t instance, const perfmon_array *families,
                                        const perfmon_array_mut *verdicts_plugin, uint64_t *taken_plugin);
    perfmon_status (*register_series)(uint64_t instance, const perfmon_array *series,
                                      const perfmon_array_mut *verdicts_plugin, uint64_t *taken_plugin);
    perfmon_status (*retire)(uint64_t instance, const perfmon_array *ids);
    perfmon_status (*batch)(uint64_t instance, const perfmon_batch *batch, uint64_t *taken_plugin);
    perfmon_status (*complete)(uint64_t instance, uint64_t collection, const perfmon_completion *completion);
    perfmon_status (*destroyed)(uint64_t instance);
    perfmon_status (*problem)(uint64_t report, const perfmon_problem *problem);
    uint8_t (*log_enabled)(uint64_t owner, uint32_t level);
    perfmon_status (*log)(uint64_t owner, const perfmon_log *record);
    perfmon_status (*event)(uint64_t instance, const perfmon_event *event);
    perfmon_status (*credential_acquire)(uint64_t owner, const perfmon_credential_request *request,
                                         perfmon_credential_lease *lease_plugin);
    perfmon_status (*credential_result)(uint64_t lease, uint32_t verdict);
    perfmon_status (*output)(uint64_t run, uint32_t stream, const perfmon_bytes *bytes);
    perfmon_status (*fact)(uint64_t instance, const perfmon_label *fact);
    perfmon_status (*min_interval)(uint64_t instance, uint64_t interval_ms);
    perfmon_status (*metric_name)(uint64_t run, uint32_t configured, const perfmon_family *family,
                                  perfmon_text *name_plugin);
    perfmon_status (*listening_socket)(uint64_t library, const perfmon_str *name, int32_t *descriptor_plugin);
    perfmon_status (*histograms)(uint64_t instance, const perfmon_histogram_batch *batch, uint64_t *taken_plugin);
} perfmon_host;
typedef struct perfmon_plugin {
    uint32_t size;
    uint16_t abi_major;
    uint16_t abi_minor;
    perfmon_str name;
    perfmon_str version;
    perfmon_str description;
    perfmon_array sources;
    perfmon_array commands;
    perfmon_status (*validate)(const perfmon_configure *request);
    perfmon_status (*create)(const perfmon_configure *request);
    perfmon_status (*reconfigure)(const perfmon_configure *request);
    perfmon_status (*collect)(const perfmon_collect *request);
    void (*cancel)(uint64_t token);
    void (*destroy)(uint64_t instance);
    void (*wake)(uint64_t owner);
    int32_t (*run)(const perfmon_run *request);
    perfmon_status (*configure)(const perfmon_configure *request);
    void (*end)(const perfmon_end *request);
    perfmon_status (*selects)(const perfmon_configure *request);
} perfmon_plugin;
typedef perfmon_status (*perfmon_plugin_entry_fn)(const perfmon_host *host, perfmon_plugin *plugin_host,
                                                  perfmon_text *error_host);
#define PERFMON_ENTRY_SYMBOL "perfmon_plugin_entry_v1"
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
perfmon_status perfmon_plugin_entry_v1(const perfmon_host *host, perfmon_plugin *plugin_host, perfmon_text *error_host);
#ifdef __cplusplus
}
#endif
#endif
