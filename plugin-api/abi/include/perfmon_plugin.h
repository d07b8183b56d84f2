/* SPDX-License-Identifier: Apache-2.0
 *
 * perfmon_plugin.h: the interface between plugins and perfmon-exporter. Plain C11, also C++.
 *
 * TRUST. A plugin runs inside the exporter with all its rights. It can read what the exporter can read, including
 * the secrets of the identities that it asks for. There is no sandbox. The host checks the data that a plugin sends,
 * so that wrong data cannot harm the exporter; it cannot protect itself against wrong code. Load only what you trust.
 *
 * A PLUGIN is a shared library that exports one symbol, perfmon_plugin_entry_v1. It is opened once with
 * RTLD_NOW | RTLD_LOCAL and never closed. It offers SOURCES (kinds of things to collect) and COMMANDS (for the
 * command line). An INSTANCE is one source on one target. The host decides when an instance collects.
 *
 * VERSIONS. This is version 1.0. What is promised from the first release of the exporter on: the major version is part of the
 * symbol and must match; every later version 1.N loads plugins of this one, and they keep all that is written here. The
 * smaller of the two minor versions is used: both sides declare their version in abi_minor and in the size of each struct,
 * and neither reads or calls what the other does not have. A later minor version only appends to structs and adds
 * values to enumerations; it marks what it adds with "since". Before that release nothing is promised.
 *
 * STRUCTS begin with their size in bytes, as known to the side that filled them. The reader takes a member as
 * zero if the size ends before it. Arrays carry the size of their elements, which is also their stride.
 * The four pairs below (perfmon_str, perfmon_bytes, perfmon_label, perfmon_verdict) never grow and have no size.
 * Reserved members and padding are zero. Booleans are uint8_t, 0 or 1.
 *
 * TEXT is UTF-8, not terminated; (NULL, 0) is empty. An array of (NULL, 0) is empty, too.
 *
 * OWNERSHIP. Memory is freed by the side that allocated it. Data behind a pointer that is passed to a call belongs to
 * the caller and is valid until the call returns; the callee copies what it wants to keep. Exceptions are marked: the
 * host table, and the data that perfmon_plugin points to after the entry, live as long as the process; the strings of
 * a lease live until the lease ends. Members that the callee writes are named by their owner: ..._host or ..._plugin.
 *
 * TOKENS (instance, collection, report, lease, run) are numbers that the host chooses. They are never 0, never
 * reused and never pointers. A call with an expired token returns STALE and does nothing.
 *
 * THREADS. Calls from the plugin to the host (perfmon_host) may come from any thread at any time, also after the
 * instance was destroyed. They never block on the plugin, on the network, or on other instances. Calls
 * from the host to the plugin (perfmon_plugin) come from the host's threads; each function says what may overlap.
 * They must return at once unless they say otherwise: the host counts calls that take more than 10 ms. It
 * quarantines an instance whose calls hang or are repeatedly slow.
 *
 * PANICS, EXCEPTIONS and longjmp must not leave a function of the plugin: that ends the process. Catch them
 * and return PERFMON_PANICKED; the host then restarts the instance after a pause. Do not install signal handlers,
 * and block signals on your own threads.
 *
 * TIME. deadline_ns and the like are nanoseconds of CLOCK_MONOTONIC; ..._unix_ns are nanoseconds since 1970 UTC.
 */
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
#define PERFMON_ABI_MINOR 0

/* ------------------------------------------------------------------------------------------ pairs and arrays */

/* Text: UTF-8, not terminated. */
typedef struct perfmon_str {
    const char *ptr;
    uint64_t len;
} perfmon_str;

/* Bytes. */
typedef struct perfmon_bytes {
    const uint8_t *ptr;
    uint64_t len;
} perfmon_bytes;

/* Name and value of a label, or key and value of a field. */
typedef struct perfmon_label {
    perfmon_str name;
    perfmon_str value;
} perfmon_label;

/* The host's answer for one family or series. id is valid if verdict is PERFMON_ACCEPTED. */
typedef struct perfmon_verdict {
    uint32_t id;
    uint32_t verdict; /* PERFMON_ACCEPTED or PERFMON_DROPPED_... */
} perfmon_verdict;

/* An array to read. ptr is aligned for its element type. */
typedef struct perfmon_array {
    const void *ptr;
    uint64_t len;          /* in elements */
    uint32_t element_size; /* in bytes; the stride */
    uint32_t reserved;
} perfmon_array;

/* An array that the callee writes; the caller owns it. */
typedef struct perfmon_array_mut {
    void *ptr;
    uint64_t len;          /* in elements */
    uint32_t element_size; /* in bytes; the stride */
    uint32_t reserved;
} perfmon_array_mut;

/* A buffer of the host for a message from the plugin. Write up to capacity bytes to ptr and their number to len. */
typedef struct perfmon_text {
    uint32_t size;
    uint32_t reserved;
    char *ptr;
    uint64_t capacity;
    uint64_t len;
} perfmon_text;

/* ---------------------------------------------------------------------------------------------- enumerations */

/* What a call returns. Take an unknown value as PERFMON_FAILED. */
typedef int32_t perfmon_status;
#define PERFMON_OK 0
#define PERFMON_FULL 1        /* only a part was accepted; the out argument says how much */
#define PERFMON_WAIT 2        /* not yet; retry after wake() is called */
#define PERFMON_DENIED 3      /* refused */
#define PERFMON_STALE 4       /* the token has expired: drop what belongs to it */
#define PERFMON_STOPPED 5     /* the instance is being destroyed, or the process ends: send no more */
#define PERFMON_INVALID 6     /* an argument breaks a rule of this file; the call had no effect */
#define PERFMON_UNSUPPORTED 7 /* this side does not support it */
#define PERFMON_FAILED 8      /* another failure */
#define PERFMON_PANICKED 9    /* a panic or exception was caught inside */
#define PERFMON_VERSION 10    /* from the entry: the major versions differ */
#define PERFMON_NOT_FOUND 11  /* nothing has this name */

/* How a source collects. */
#define PERFMON_MODE_ASYNC 1    /* collect() starts the work and returns within 10 ms */
#define PERFMON_MODE_BLOCKING 2 /* collect() does the work, on a thread of the host's pool */

/* What the values of a family mean. The host takes an unknown one as PERFMON_KIND_UNKNOWN. */
#define PERFMON_KIND_UNKNOWN 0
#define PERFMON_KIND_GAUGE 1     /* goes up and down */
#define PERFMON_KIND_COUNTER 2   /* only grows, or is reset */
#define PERFMON_KIND_INFO 3      /* labels that describe; the value is 1 */
#define PERFMON_KIND_HISTOGRAM 4 /* observations counted in buckets, sent with perfmon_host.histograms */

/* The column type of a family. The host drops a family with an unknown one. */
#define PERFMON_VALUE_F64 1
#define PERFMON_VALUE_U64 2 /* counters exceed 2^53 */
#define PERFMON_VALUE_I64 3
#define PERFMON_VALUE_HISTOGRAM 4 /* for families of the kind HISTOGRAM only */

/* Maximum bounds of a histogram. It has one bucket more, up to +Inf. */
#define PERFMON_HISTOGRAM_BOUNDS_MAX 64

/* How pages show a family's values. The exported value does not change; the rule says what a page computes
 * from it. N0 and N1 are the values of a series in two collections, the newer last; B0 and B1 are those of its
 * base, which is the series with the same labels in the family that perfmon_family.base names; T is the time between
 * the two in seconds. No value is shown if a difference is negative (the series was reset), if a divisor is zero, or
 * if the base has no value. With "percent" the result is in percent; else it is in the unit of the
 * rule, or in the family's own. The host takes an unknown value as PERFMON_DISPLAY_NONE. */
#define PERFMON_DISPLAY_NONE 0                        /* not declared: the value; for a counter, its rate */
#define PERFMON_DISPLAY_VALUE 1                       /* N1 */
#define PERFMON_DISPLAY_PERCENT 2                     /* 100 * N1, percent: N is a ratio */
#define PERFMON_DISPLAY_DELTA 3                       /* N1 - N0 */
#define PERFMON_DISPLAY_RATE 4                        /* (N1 - N0) / T, per second */
#define PERFMON_DISPLAY_QUEUE_LENGTH 5                /* (N1 - N0) / T, no unit: N is in seconds times the length */
#define PERFMON_DISPLAY_PERCENT_OF_TIME 6             /* 100 * (N1 - N0) / T, percent: N is in seconds */
#define PERFMON_DISPLAY_PERCENT_NOT_OF_TIME 7         /* 100 * (1 - (N1 - N0) / T), percent, not below 0: inverse timers */
#define PERFMON_DISPLAY_PERCENT_OF_TIME_OF_MANY 8     /* 100 * (N1 - N0) / T / B1, percent: B is the number of items */
#define PERFMON_DISPLAY_PERCENT_NOT_OF_TIME_OF_MANY 9 /* 100 * (B1 - (N1 - N0) / T), percent, not below 0 */
#define PERFMON_DISPLAY_PERCENT_OF_BASE 10            /* 100 * N1 / B1, percent */
#define PERFMON_DISPLAY_PERCENT_OF_BASE_DELTA 11      /* 100 * (N1 - N0) / (B1 - B0), percent */
#define PERFMON_DISPLAY_AVERAGE 12                    /* (N1 - N0) / (B1 - B0) */
#define PERFMON_DISPLAY_ELAPSED 13                    /* now - N1, seconds, not below 0: N is in seconds since 1970 */
#define PERFMON_DISPLAY_BASE 14                       /* a base of other families: not shown by itself */

/* Whether a family or series was accepted. Take an unknown value as dropped. */
#define PERFMON_ACCEPTED 0
#define PERFMON_DROPPED_LIMIT 1
#define PERFMON_DROPPED_RULE 2
#define PERFMON_DROPPED_DUPLICATE 3
#define PERFMON_DROPPED_INVALID 4
#define PERFMON_DROPPED_UNKNOWN_FAMILY 5
#define PERFMON_DROPPED_UNSUPPORTED 6

/* How the start time of a series is known. The host takes an unknown value as PERFMON_START_TIME_UNKNOWN. */
#define PERFMON_START_TIME_UNKNOWN 0  /* not declared: a start time, if there is one, is taken as known */
#define PERFMON_START_TIME_KNOWN 1    /* the target reported it, or the plugin observed it */
#define PERFMON_START_TIME_INFERRED 2 /* derived from something else, such as the start of the target */

/* How a collection ended. */
#define PERFMON_OUTCOME_FULL 1    /* everything was sent: a series without a value is gone */
#define PERFMON_OUTCOME_PARTIAL 2 /* the listed families were sent completely; the others are unknown */
#define PERFMON_OUTCOME_FAILED 3  /* no data of the collection is valid */

/* The stages of a collection, in this order. */
#define PERFMON_STAGE_DNS 1
#define PERFMON_STAGE_TCP 2
#define PERFMON_STAGE_SMB 3
#define PERFMON_STAGE_AUTH 4
#define PERFMON_STAGE_PIPE 5
#define PERFMON_STAGE_BIND 6
#define PERFMON_STAGE_QUERY 7
#define PERFMON_STAGE_DECODE 8
#define PERFMON_STAGE_PLUGIN 9

/* Why a collection failed. The host takes an unknown one as PERFMON_REASON_OTHER. */
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
#define PERFMON_REASON_QUARANTINED 27 /* used by the host alone */
#define PERFMON_REASON_CLOCK_SKEW 28
#define PERFMON_REASON_UNKNOWN_PRINCIPAL 29
#define PERFMON_REASON_UNKNOWN_SERVICE 30
#define PERFMON_REASON_ENCRYPTION_TYPE 31
#define PERFMON_REASON_TICKET_EXPIRED 32
#define PERFMON_REASON_KDC_UNREACHABLE 33
#define PERFMON_REASON_NO_KEYTAB_ENTRY 34
#define PERFMON_REASON_KEY_VERSION 35
#define PERFMON_REASON_NO_KERBEROS 36
/* Reason number i of perfmon_source.reasons has the code PERFMON_REASON_DECLARED + i. */
#define PERFMON_REASON_DECLARED 256
#define PERFMON_DECLARED_REASONS_MAX 64

/* The severity of a record or an event. The host takes an unknown one as PERFMON_LEVEL_TRACE. */
#define PERFMON_LEVEL_ERROR 1
#define PERFMON_LEVEL_WARN 2
#define PERFMON_LEVEL_INFO 3
#define PERFMON_LEVEL_DEBUG 4
#define PERFMON_LEVEL_TRACE 5

/* The state of an alert. The host takes an event with an unknown one as about no alert. */
#define PERFMON_ALERT_OPENED 1 /* it fires from now on */
#define PERFMON_ALERT_OPEN 2   /* it still fires. Repeat this from time to time, for receivers that missed OPENED */
#define PERFMON_ALERT_CLOSED 3 /* it no longer fires */

/* On which side of its threshold an alert fires. The host takes an unknown one as PERFMON_COMPARISON_NONE. */
#define PERFMON_COMPARISON_NONE 0  /* the alert compares no numbers */
#define PERFMON_COMPARISON_ABOVE 1
#define PERFMON_COMPARISON_BELOW 2

/* The kind of a leased secret. End a lease of an unknown kind with PERFMON_CREDENTIAL_UNSUITABLE. */
#define PERFMON_CREDENTIAL_KIND_PASSWORD 1
/* The secret is the name of a credential cache in the memory of this process, `MEMORY:` and more, for the library
   libgssapi_krb5.so.2; the user name is the principal's, the domain its realm. It lives as long as the lease, and is
   kept after that until its tickets end or others replace it. REJECTED says that the host does not take them. */
#define PERFMON_CREDENTIAL_KIND_KERBEROS 2
/* For Kerberos where that library is absent: the plugin asks a KDC for tickets at each logon. The secret of the first
   is the principal's password, that of the second `TYPE:HEX`: the number of the encryption type (RFC 3961) and the
   principal's key in hexadecimal. KDCs are in the files that KRB5_CONFIG names. REJECTED and the others say what a KDC
   says of the secret; a host that does not take a ticket is no such answer. */
#define PERFMON_CREDENTIAL_KIND_KERBEROS_PASSWORD 3
#define PERFMON_CREDENTIAL_KIND_KERBEROS_KEY 4
/* Tickets with RC4 may be used, besides those with AES. */
#define PERFMON_CREDENTIAL_ALLOWS_RC4 1

/* The target's answer to a secret. The host takes an unknown one as PERFMON_CREDENTIAL_UNKNOWN. */
#define PERFMON_CREDENTIAL_UNKNOWN 0  /* no answer: connection lost, cancelled */
#define PERFMON_CREDENTIAL_ACCEPTED 1
#define PERFMON_CREDENTIAL_REJECTED 2 /* wrong user name or password */
#define PERFMON_CREDENTIAL_LOCKED 3   /* account locked */
#define PERFMON_CREDENTIAL_DISABLED 4 /* account disabled or expired */
#define PERFMON_CREDENTIAL_PASSWORD_EXPIRED 5 /* the password has expired or must be changed */
#define PERFMON_CREDENTIAL_UNSUITABLE 6 /* a secret of this kind is not possible there; another kind may be */

/* Where a command writes. */
#define PERFMON_OUTPUT_OUT 1
#define PERFMON_OUTPUT_ERR 2
#define PERFMON_OUTPUT_PROGRESS 3 /* one line; on a terminal it replaces the previous one; empty clears */

/* Instead of a source's number: the library as a whole. */
#define PERFMON_SOURCE_LIBRARY 4294967295u

/* Instead of an index into perfmon_run.configured. */
#define PERFMON_NO_MODULE 4294967295u

/* Why an instance ends. Take an unknown one as PERFMON_END_REMOVED. */
#define PERFMON_END_REMOVED 1 /* it was removed or replaced */
#define PERFMON_END_PROCESS 2 /* the process ends */

/* Which objects a library keeps in cells. Take an unknown level as none. */
#define PERFMON_CELLS_SERVER 1 /* endpoints, threads, connections, server calls, and client calls made within these */
#define PERFMON_CELLS_FULL 2   /* client calls elsewhere, too */

/* Flags of an option. */
#define PERFMON_OPTION_REQUIRED 1u
#define PERFMON_OPTION_REPEATED 2u

/* The type of a transport's setting. The host refuses a plugin that declares an unknown one. */
#define PERFMON_SETTING_KIND_TEXT 1
#define PERFMON_SETTING_KIND_WORD 2     /* text: one of perfmon_setting.words */
#define PERFMON_SETTING_KIND_INTEGER 3  /* a whole number from min to max */
#define PERFMON_SETTING_KIND_BOOL 4     /* true or false */
#define PERFMON_SETTING_KIND_DURATION 5 /* written with a unit; the plugin gets milliseconds, from min to max */
#define PERFMON_SETTING_KIND_PORT 6     /* from 1 to 65535; passed as perfmon_configure.port, not in the settings */

/* Flags of a setting. */
#define PERFMON_SETTING_SHOWN 1u /* pages show its value. Others are shown as `hidden` */

/* ------------------------------------------------------------------------------------ what a plugin declares */

/* A failure reason that a source declares. */
typedef struct perfmon_reason {
    uint32_t size;
    uint32_t reserved;
    perfmon_str word;      /* for labels and logs: [a-z][a-z0-9_]*, not a general one, at most 64 bytes */
    perfmon_str sentence;  /* what happened */
    perfmon_str next_step; /* what to do about it */
} perfmon_reason;

/* A setting of a transport. */
typedef struct perfmon_setting {
    uint32_t size;
    uint32_t kind;               /* PERFMON_SETTING_KIND_... */
    uint32_t flags;              /* PERFMON_SETTING_... */
    uint32_t reserved;
    perfmon_str key;             /* [a-z][a-z0-9_]*, at most 64 bytes, unique in its transport */
    perfmon_str help;            /* one line */
    perfmon_str default_value;   /* as JSON: 445, "preferred", true; a duration in milliseconds. If empty, there is no
                                  * default: the plugin gets the setting only if it is configured */
    perfmon_array words;         /* of perfmon_str: the values of a word, each [a-z][a-z0-9_-]*; else empty */
    int64_t min;                 /* of an integer or of a duration, in milliseconds and never negative */
    int64_t max;                 /* not below min */
} perfmon_setting;

/* A way to reach a target: a section of `transports:` in the configuration. The source gets its settings as
 * an object in `transport`, beside `connect_timeout_ms`, which every transport has:
 * {"transport": {"connect_timeout_ms": 3000, "smb": {"encryption": "preferred"}}}
 * A source without transports gets no `transport`.
 * A source gets those of its declared kinds that are configured in the target's transport. If none is, it gets the first
 * one that it declares. Missing settings have their defaults. A port comes with the target; a source that declares several
 * kinds gets the configured port of each kind in its object, too, since it may use them side by side. */
typedef struct perfmon_transport {
    uint32_t size;
    uint32_t reserved;
    perfmon_str kind;       /* [a-z][a-z0-9_]*, at most 64 bytes, unique in its source; not connect_timeout,
                             * connect_timeout_ms or addresses */
    perfmon_str help;       /* one line */
    perfmon_array settings; /* of perfmon_setting; at most one port. All sources declare the same kind equally */
} perfmon_transport;

/* Flags of a source. Ignore unknown ones. */
#define PERFMON_SOURCE_KEEPS_FILES 1u /* it keeps files of its targets, such as logs: see perfmon_source.flags */

/* A kind of thing to collect. Its number is its place in perfmon_plugin.sources. */
typedef struct perfmon_source {
    uint32_t size;
    uint32_t mode;         /* PERFMON_MODE_... */
    perfmon_str name;      /* [a-z][a-z0-9_-]*, at most 64 bytes, unique in the library */
    perfmon_str help;      /* one line */
    perfmon_array reasons; /* of perfmon_reason; at most PERFMON_DECLARED_REASONS_MAX */
    perfmon_array shown;   /* of perfmon_str: keys of its settings whose values are not secret, and of
                            * those of the library. Pages show these values at any level of the settings; items of a list belong to the list's key. Values of
                            * other keys are shown as `hidden` */
    perfmon_array transports; /* of perfmon_transport; the ways to reach its targets */
    uint32_t flags;           /* PERFMON_SOURCE_... A source with PERFMON_SOURCE_KEEPS_FILES gets an absolute path as an
                               * object in `storage`, if `storage.directory` is configured: {"storage": {"directory":
                               * "/srv/logs/web1"}}. It may have "interval_ms", too: the interval of the target's
                               * collections, which may be missing or null. The directory is that of the target: sources of one
                               * target share it, and those of others have others. It may not exist yet: make it, in the existing
                               * directory above it, and follow no links below it. At a reload it may change, which reconfigure()
                               * says. validate() gets it, too, and makes nothing there. It is missing for an instance with
                               * PERFMON_CONFIGURE_ON_DEMAND and in perfmon_run.configured, since two instances must not write the
                               * same files: then keep none, and collect the rest */
    uint32_t reserved;
} perfmon_source;

/* An option of a command, for its help; the command parses its arguments itself. If an option is not given, the host adds
 * it from the configuration of `--target`. It does so for target-name, port, identity, connect-timeout, and KIND-KEY of each
 * setting of a transport, with dashes for underscores: smb-encryption. */
typedef struct perfmon_option {
    uint32_t size;
    uint32_t flags;         /* PERFMON_OPTION_... */
    perfmon_str name;       /* without dashes; empty for positional arguments */
    perfmon_str value_name; /* the name of the value in the help; empty if it takes none */
    perfmon_str help;       /* one line */
} perfmon_option;

/* perfmon-exporter PLUGIN COMMAND. Its number is its place in perfmon_plugin.commands. */
typedef struct perfmon_command {
    uint32_t size;
    uint32_t reserved;
    perfmon_str name;      /* [a-z][a-z0-9_-]*, at most 64 bytes, unique in the library */
    perfmon_str help;      /* one line */
    perfmon_array aliases; /* of perfmon_str; other names, also usable without the plugin's name */
    perfmon_array options; /* of perfmon_option */
} perfmon_command;

/* ------------------------------------------------------------------------------- what the host passes to a plugin */

/* Flags of perfmon_configure. Ignore unknown ones. */
#define PERFMON_CONFIGURE_ON_DEMAND 1u /* the instance collects when somebody asks, such as for /probe, and not on a schedule:
                                        * leave nothing on the target that is there for later collections */

/* Settings for validate(), create(), reconfigure(), configure() and selects(). */
typedef struct perfmon_configure {
    uint32_t size;
    uint32_t source;       /* which source, or PERFMON_SOURCE_LIBRARY */
    uint64_t instance;     /* the token of the instance; 0 for validate() */
    uint64_t report;       /* the token for perfmon_host.problem, valid until the call returns */
    perfmon_str target;    /* the target's unique name */
    perfmon_str host;      /* its host name or address */
    uint32_t port;         /* 0 if none is configured: use the default of the source's transport */
    uint32_t flags;        /* PERFMON_CONFIGURE_... */
    perfmon_str identity;  /* the name of the identity to use; empty for none */
    perfmon_str settings;  /* a JSON object. Values of keys `file` and `*_file` in the settings of a module arrive as absolute
                            * paths; other paths, and those in the settings of the library, as they are written */
    perfmon_text *error_host; /* a buffer for a message with a status other than OK; never null */
    const struct perfmon_family *family; /* for selects(): what is asked about, by space, object, item and part;
                                          * else null */
} perfmon_configure;

/* One collection. */
typedef struct perfmon_collect {
    uint32_t size;
    uint32_t reserved;
    uint64_t instance;
    uint64_t collection;  /* the token for perfmon_host.complete and perfmon_plugin.cancel */
    uint64_t now_ns;      /* the monotonic clock when the host called */
    uint64_t deadline_ns; /* complete before; later data is dropped */
} perfmon_collect;

/* The end of an instance. */
typedef struct perfmon_end {
    uint32_t size;
    uint32_t reason;      /* PERFMON_END_... */
    uint64_t instance;
    uint64_t now_ns;      /* the monotonic clock when the host called */
    uint64_t deadline_ns; /* finish before: then the instance's token is STALE, and the process may have ended */
} perfmon_end;

/* One run of a command. */
typedef struct perfmon_run {
    uint32_t size;
    uint32_t command;        /* which command */
    uint64_t run;            /* the token for output, log, credentials and cancel */
    perfmon_array args;      /* of perfmon_str: the arguments after the command's name */
    uint32_t terminal_width; /* in columns; 0 if the output is not a terminal */
    uint32_t reserved;
    perfmon_array configured; /* of perfmon_configure: the configuration of the target that `--target` names, one
                               * for each of its modules of this library; instance and report are 0, error_host is null.
                               * Empty if there is no such target */
} perfmon_run;

/* ------------------------------------------------------------------------------- what a plugin sends to the host */

/* How bad a problem with settings is. */
#define PERFMON_PROBLEM_ERROR 0u   /* the settings are refused */
#define PERFMON_PROBLEM_WARNING 1u /* they are accepted, and a part of them is not done; only validate() reports these, and answers
                                    * INVALID */

/* A problem with settings. */
typedef struct perfmon_problem {
    uint32_t size;
    uint32_t severity;      /* PERFMON_PROBLEM_... */
    perfmon_str pointer;    /* RFC 6901 JSON pointer into the settings; empty for the whole. If the settings have no such
                             * member, `/target/identity` means that this target needs an identity and has none */
    perfmon_str message;    /* what is wrong */
    perfmon_str suggestion; /* a valid value; may be empty */
} perfmon_problem;

/* A family. The exporter makes a metric from it, and the metric's name. */
typedef struct perfmon_family {
    uint32_t size;
    uint32_t kind;       /* PERFMON_KIND_... */
    uint32_t value_kind; /* PERFMON_VALUE_... */
    uint32_t reserved;
    perfmon_str space;   /* its namespace; empty for performance counters. Reserved ones: exporter, probe, pcq, complus, pla,
                          * rpc */
    perfmon_str object;  /* in the source's own words; not empty */
    perfmon_str item;    /* in the source's own words; not empty */
    perfmon_str part;    /* the part of the item, if it has several */
    perfmon_str unit;    /* base unit: seconds, bytes, ratio; empty for none */
    perfmon_str help;    /* a sentence */
    perfmon_str origin;  /* where it comes from, in the source's own notation */
    perfmon_str base;    /* its base: a part of the same space, object and item. If `display` computes with a base,
                          * it must not be empty or the family's own part: else the family is dropped as invalid. Ignored
                          * with other rules */
    uint32_t display;    /* PERFMON_DISPLAY_...; ignored for histograms: pages show the mean */
    uint32_t reserved2;
    perfmon_array bounds; /* of double: inclusive upper bounds of a histogram's buckets, in the family's unit:
                           * 1 to PERFMON_HISTOGRAM_BOUNDS_MAX, finite, strictly ascending. The last bucket, up to +Inf,
                           * has no bound here. Otherwise, or if only one of kind and value_kind is HISTOGRAM, the family
                           * is dropped as invalid. Ignored for other kinds */
} perfmon_family;

/* A series of a family. */
typedef struct perfmon_series {
    uint32_t size;
    uint32_t family;            /* an id that register_families accepted */
    perfmon_array labels;       /* of perfmon_label; names match [a-zA-Z_][a-zA-Z0-9_]* and are distinct */
    int64_t start_time_unix_ns; /* when it began to count; 0 if not known */
    uint32_t start_time_kind;   /* PERFMON_START_TIME_... */
    uint32_t reserved;
} perfmon_series;

/* Values by series. All columns that are not empty have the length of ids. */
typedef struct perfmon_batch {
    uint32_t size;
    uint32_t value_kind;         /* PERFMON_VALUE_...: what `values` holds */
    perfmon_array ids;           /* of uint32_t: accepted series, in any order; ascending is fastest */
    perfmon_array values;        /* of double, uint64_t or int64_t */
    perfmon_array timestamps;    /* of int64_t, Unix ns; empty for "now" */
    perfmon_array start_times;   /* of int64_t, Unix ns: the plugin saw that the series was reset then; 0 or empty
                                  * for "as before" */
} perfmon_batch;

/* Histograms by series, all of one family, so that all rows have the same buckets. All columns that are not
 * empty have the length of ids; counts has that length times the number of buckets. */
typedef struct perfmon_histogram_batch {
    uint32_t size;
    uint32_t family;             /* an id that register_families accepted for a family of the kind HISTOGRAM */
    perfmon_array ids;           /* of uint32_t: accepted series of the family, in any order; ascending is fastest */
    perfmon_array counts;        /* of uint64_t: row by row the observations in each bucket: one for each bound, and one for
                                  * +Inf. Counts are not cumulative over the buckets; over time they only grow, or are reset.
                                  * The sum of a row must not exceed 2^64 - 1 */
    perfmon_array sums;          /* of double: the sum of all observations; finite. It may be negative only if the first
                                  * bound is: declare a negative bound if observations can be negative. Such sums are left
                                  * out of OpenMetrics and OTLP, where sums must not decrease */
    perfmon_array timestamps;    /* as in perfmon_batch */
    perfmon_array start_times;   /* as in perfmon_batch */
} perfmon_histogram_batch;

/* Duration and traffic of a stage of a collection. */
typedef struct perfmon_stage {
    uint32_t size;
    uint32_t stage;       /* PERFMON_STAGE_... */
    uint64_t start_ns;    /* on the monotonic clock */
    uint64_t duration_ns; /* total */
    uint64_t calls;       /* to the target */
    uint64_t bytes_in;
    uint64_t bytes_out;
} perfmon_stage;

/* How a collection ended. */
typedef struct perfmon_completion {
    uint32_t size;
    uint32_t outcome;       /* PERFMON_OUTCOME_... */
    perfmon_array families; /* of uint32_t: for PARTIAL: the ids of the completely sent families */
    perfmon_array stages;   /* of perfmon_stage: each at most once */
    uint32_t failure_stage; /* for FAILED, and for PARTIAL with a reason: PERFMON_STAGE_..., else 0 */
    uint32_t failure_reason;
    perfmon_str message;    /* details for people, no secrets */
    uint64_t retry_after_ms; /* with FAILED: the earliest useful retry, in milliseconds from now. It holds for the
                              * whole target if the failure's stage is BIND or before, else for this instance. The host limits
                              * the pause. 0: the host decides */
} perfmon_completion;

/* A log record. */
typedef struct perfmon_log {
    uint32_t size;
    uint32_t level;       /* PERFMON_LEVEL_... */
    perfmon_str message;  /* a capitalised phrase, no secrets */
    perfmon_array fields; /* of perfmon_label */
} perfmon_log;

/* An alert and its state. */
typedef struct perfmon_alert {
    uint32_t size;
    uint32_t state;       /* PERFMON_ALERT_... */
    perfmon_str id;       /* its name: not empty, one line, unique in the instance */
    perfmon_array labels; /* of perfmon_label, at most 32: what identifies the alert, the same in each of its events. Receivers
                           * get them as labels, and the event's fields as annotations. Their names are
                           * [a-zA-Z_][a-zA-Z0-9_]*, each once, and do not begin with __. Receivers call the alert as its label
                           * `alert` does */
    uint32_t comparison;  /* PERFMON_COMPARISON_...; with NONE, value and threshold are not read */
    uint32_t reserved;
    double value;         /* not finite: there is none */
    double threshold;     /* not finite: as with PERFMON_COMPARISON_NONE */
    uint64_t interval_ns; /* between two evaluations; 0 if not known. Where the instance is made again, an alert that it does not
                           * report again ends after twice interval_ns and hold_ns, at the earliest */
    uint64_t hold_ns;     /* how long the value has to be across before the alert fires */
} perfmon_alert;

/* Something that happened on the target, such as an alert that fired. */
typedef struct perfmon_event {
    uint32_t size;
    uint32_t level;       /* PERFMON_LEVEL_... */
    perfmon_str name;     /* its kind: [a-z][a-z0-9_.]* */
    int64_t time_unix_ns; /* 0 if not known */
    perfmon_str body;     /* a sentence */
    perfmon_array fields; /* of perfmon_label */
    const perfmon_alert *alert; /* NULL: it is about no alert */
} perfmon_event;

/* A request for a secret. */
typedef struct perfmon_credential_request {
    uint32_t size;
    uint32_t reserved;
    perfmon_str host;     /* host name or address to which the plugin will authenticate */
    perfmon_str identity; /* the identity's name */
} perfmon_credential_request;

/* A secret that is leased for one authentication. The plugin owns the struct and sets its size; the host fills it.
 * The strings belong to the host. They are valid until credential_result, which wipes them. */
typedef struct perfmon_credential_lease {
    uint32_t size;
    uint32_t kind;           /* PERFMON_CREDENTIAL_KIND_... */
    uint64_t lease;          /* the token */
    perfmon_str domain_host; /* empty for a local account */
    perfmon_str username_host;
    perfmon_bytes secret_host;
    uint32_t reason;         /* with DENIED: PERFMON_REASON_... */
    uint32_t retry_after_ms; /* with WAIT: retry after this time even without wake() */
    perfmon_str service_host; /* the KERBEROS kinds: the service to log on to; empty: its class and the host's name */
    uint32_t flags;          /* KERBEROS: PERFMON_CREDENTIAL_ALLOWS_RC4 or 0 */
    uint32_t reserved;
} perfmon_credential_lease;

/* --------------------------------------------------------------------------------------------- the host table */

/* Memory for cells: a library keeps the state of its RPC run time there (its endpoints, connections and calls), where
 * other processes read it at any time, also after a crash. It consists of sections of cells, and begins with a header,
 * which the host has written. The crate rpc-cells of this project documents the layout and implements it; its version is in
 * the lower half of word 1: keep nothing in a version that you do not know. Access the words with atomic loads and
 * stores only. Others can change what is there: do not rely on what you read. */
typedef struct perfmon_cell_memory {
    uint32_t size;
    uint32_t level;        /* PERFMON_CELLS_... */
    uint64_t *words_host;  /* aligned to 8; valid as long as the process lives */
    uint64_t words_len;    /* in words: all sections that there can be */
    uint32_t sections;     /* so many of them, from the first one, may be used */
    uint32_t reserved;
} perfmon_cell_memory;

/* What the host offers. The host makes it; it is constant and lives as long as the process. Any thread may call any
 * function at any time; a null `taken_plugin` is allowed everywhere. */
typedef struct perfmon_host {
    uint32_t size;
    uint16_t abi_major;
    uint16_t abi_minor;
    uint64_t library;        /* a token for this library, for log() */
    uint32_t worker_threads; /* how many threads the plugin's runtime should have */
    uint32_t reserved;
    perfmon_str program;     /* name and version of the program, for people */

    /* The monotonic clock. */
    uint64_t (*now_ns)(void);

    /* Offers families (of perfmon_family). Writes a perfmon_verdict for each to verdicts_plugin, which has as
     * many elements. Ids are dense, per instance; do not offer dropped ones again.
     * OK; FULL: only the first *taken_plugin have a verdict, offer the rest in another call; STALE; STOPPED; INVALID.
     * For an invalid family, or one above the instance's limit, the verdict is the reason. */
    perfmon_status (*register_families)(uint64_t instance, const perfmon_array *families,
                                        const perfmon_array_mut *verdicts_plugin, uint64_t *taken_plugin);

    /* Offers series (of perfmon_series), like register_families. An id is used again only after retire(). */
    perfmon_status (*register_series)(uint64_t instance, const perfmon_array *series,
                                      const perfmon_array_mut *verdicts_plugin, uint64_t *taken_plugin);

    /* Ends series (ids, of uint32_t). Series that are retired already are skipped. OK, STALE, STOPPED, INVALID. */
    perfmon_status (*retire)(uint64_t instance, const perfmon_array *ids);

    /* Sends values, inside or outside of a collection. The plugin may reuse its buffers at once.
     * OK; FULL: only the first *taken_plugin rows were accepted, send the rest in another batch; STALE; STOPPED;
     * INVALID: nothing was accepted. Rows of retired series, or of another value kind, are counted and dropped. */
    perfmon_status (*batch)(uint64_t instance, const perfmon_batch *batch, uint64_t *taken_plugin);

    /* Ends a collection; exactly once for each collect() that returned OK. Send all data of the collection
     * before. OK; STALE: completed already, or aborted after its deadline (dropped and counted); INVALID. */
    perfmon_status (*complete)(uint64_t instance, uint64_t collection, const perfmon_completion *completion);

    /* Ends an instance after destroy(): the plugin no longer uses it. Its token is STALE from now on. */
    perfmon_status (*destroyed)(uint64_t instance);

    /* Reports a problem with settings, during the call that has the report token. */
    perfmon_status (*problem)(uint64_t report, const perfmon_problem *problem);

    /* Whether a record of this level would be logged: 1 or 0. owner: an instance, a run, or the library. */
    uint8_t (*log_enabled)(uint64_t owner, uint32_t level);

    /* Writes a log record. FULL: too many bytes in this second; dropped and counted. */
    perfmon_status (*log)(uint64_t owner, const perfmon_log *record);

    /* Reports an event. FULL as with log(), and if too many alerts are open: the event is dropped, report the alert again with a
     * later collection. The host remembers which alerts are open; one that is opened again stays open. */
    perfmon_status (*event)(uint64_t instance, const perfmon_event *event);

    /* Asks for a secret. owner: an instance or a run. OK: *lease_plugin is filled; end it with credential_result.
     * WAIT: another target tries this secret first, or a KDC was asked; wake(owner) follows. DENIED: see lease_plugin->reason.
     * FULL: too many leases are open. STALE, STOPPED, INVALID. */
    perfmon_status (*credential_acquire)(uint64_t owner, const perfmon_credential_request *request,
                                         perfmon_credential_lease *lease_plugin);

    /* Ends a lease with the target's answer (PERFMON_CREDENTIAL_...). The lease's strings are invalid when it returns. */
    perfmon_status (*credential_result)(uint64_t lease, uint32_t verdict);

    /* Writes output of a command. stream: PERFMON_OUTPUT_... FULL: the command has printed too much. */
    perfmon_status (*output)(uint64_t run, uint32_t stream, const perfmon_bytes *bytes);

    /* Reports a fact about the target: a name, [a-z][a-z0-9_.]*, and a value, which replaces the
     * previous one; an empty value removes it. The host uses os.type ("windows", as in OpenTelemetry) and
     * os.version ("10.0.20348") for collectors and pages, and ignores other names.
     * OK; STALE; STOPPED; INVALID. */
    perfmon_status (*fact)(uint64_t instance, const perfmon_label *fact);

    /* Asks for at least interval_ms between the starts of two collections of the instance, because its data
     * changes no faster, or is expensive for the target. The last call counts, from the next collection on; 0 removes the
     * request. The host keeps its own interval if that is longer, and limits interval_ms.
     * OK; STALE; STOPPED; INVALID: more than a day. */
    perfmon_status (*min_interval)(uint64_t instance, uint64_t interval_ms);

    /* Writes the metric name of a family's samples for a command: the name in the module at index `configured`
     * of perfmon_run, or by the general rules if that is PERFMON_NO_MODULE. The plugin owns name_plugin, its buffer and its
     * capacity; the host writes the text and sets len. Rules on labels are applied to a series without labels.
     * OK; FULL: nothing is written, len is the needed capacity; DENIED: a rule drops the family; STALE; UNSUPPORTED;
     * INVALID. */
    perfmon_status (*metric_name)(uint64_t run, uint32_t configured, const perfmon_family *family,
                                  perfmon_text *name_plugin);

    /* Hands over a listening TCP socket that the service manager opened for this library, by its name there without
     * `plugin.` and the library's name: `events` for FileDescriptorName=plugin.pla.events. [a-z][a-z0-9_.-]*, at most 64
     * bytes. Writes a descriptor that belongs to the plugin, close-on-exec and non-blocking; each call makes a new one
     * of the same socket. Do not call it in the entry. OK; NOT_FOUND; FAILED: no descriptors are left; STALE; INVALID. */
    perfmon_status (*listening_socket)(uint64_t library, const perfmon_str *name, int32_t *descriptor_plugin);

    /* Sends histograms, like batch() for values. OK; FULL; STALE; STOPPED; INVALID: nothing was accepted. Rows of
     * retired series or of another family, and rows with impossible counts or sums, are counted and dropped; *taken_plugin
     * includes them. */
    perfmon_status (*histograms)(uint64_t instance, const perfmon_histogram_batch *batch, uint64_t *taken_plugin);

    /* Hands over the library's memory for cells, with `sections` sections at least: the host reserves their room on
     * the disk. The first call makes the memory, with one section; each call describes the same memory. There is one writer of
     * it: the library. Do not call it in the entry. OK; NOT_FOUND: the host keeps no cells; FULL: there is no room for so
     * many sections, and memory_plugin has those that there are; FAILED: there is no room for any; STOPPED: the first call
     * came when the process ended; STALE; INVALID. */
    perfmon_status (*cell_memory)(uint64_t library, uint32_t sections, perfmon_cell_memory *memory_plugin);
} perfmon_host;

/* -------------------------------------------------------------------------------------------- the plugin table */

/* What a plugin offers. The host owns the struct and sets `size` to its capacity; the plugin writes at
 * most that many bytes of its own table into it, with `size` set to the number written. Everything that it
 * points to lives as long as the process. The functions of instances may be null in a plugin without sources; run may
 * be null in one without commands. */
typedef struct perfmon_plugin {
    uint32_t size;
    uint16_t abi_major;
    uint16_t abi_minor;
    perfmon_str name;        /* [a-z][a-z0-9_-]*, at most 64 bytes */
    perfmon_str version;     /* any text */
    perfmon_str description; /* one line */
    perfmon_array sources;   /* of perfmon_source */
    perfmon_array commands;  /* of perfmon_command */

    /* Checks settings without an instance; reports problems with perfmon_host.problem. May take seconds; may overlap
     * with any call. OK: no problem. INVALID: problems were reported. FAILED, PANICKED: with a message. */
    perfmon_status (*validate)(const perfmon_configure *request);

    /* Makes the instance with the token that the host has chosen, without using the network. Returns the same as
     * validate(). Calls for one instance do not overlap, except cancel() and wake(), which may overlap with any call. */
    perfmon_status (*create)(const perfmon_configure *request);

    /* Gives an instance new settings, when the configuration is reloaded and only the settings of the module changed: target,
     * host, port, identity and transport are those of create(). A collection of an async source may be in progress; the
     * settings count from the next one on. The instance keeps what it knows, and its families and series stay registered: it
     * retires the series that it sends no more. Unless it returns OK, the old settings stay; the host may then destroy the
     * instance and create another one. Null is the same as UNSUPPORTED. */
    perfmon_status (*reconfigure)(const perfmon_configure *request);

    /* Collects. An async source starts the work and returns within 10 ms; a blocking one does the work. After OK
     * the plugin must call complete() once, from any thread, even before this returns; else it must not. */
    perfmon_status (*collect)(const perfmon_collect *request);

    /* Asks to end a collection or a run early. May be called twice, late, or for a token that the plugin no longer
     * knows: ignore that. Complete a cancelled collection, too. */
    void (*cancel)(uint64_t token);

    /* Asks an instance to end: cancel what runs, close what is open, then call perfmon_host.destroyed, from any
     * thread, also after this has returned. Called once. Ignore an unknown token. */
    void (*destroy)(uint64_t instance);

    /* An instance or a run that got WAIT should retry. May be called when nothing waits. */
    void (*wake)(uint64_t owner);

    /* Runs a command on the calling thread until it ends. Returns the exit code: 0 success, 1 failure,
     * 2 wrong usage, 130 cancelled. Runs may overlap. */
    int32_t (*run)(const perfmon_run *request);

    /* Takes the settings of the library as a whole: once in the process, before the first create(); {} if none
     * are configured. Returns the same as validate(); no instance is made until it returns OK. The request has the source
     * PERFMON_SOURCE_LIBRARY, the instance 0, and no target; validate() gets such requests, too, before and after.
     * Commands run without it. Null in a plugin without such settings. */
    perfmon_status (*configure)(const perfmon_configure *request);

    /* Called instead of destroy(), for instances that need time to end: to unsubscribe, or to release what they
     * hold on the target. Like destroy() it starts the work and returns at once; the plugin calls perfmon_host.destroyed when
     * the work is done. Until then the instance may log and ask for secrets; other calls return STOPPED. Called once. Null
     * in a plugin whose instances end at once. */
    void (*end)(const perfmon_end *request);

    /* Says whether instances with these settings collect request->family, without an instance, a target and the
     * network: for people who want to know which settings a metric needs. May overlap with any call. OK: they do, if the
     * target has it. INVALID: they do not. Then report with perfmon_host.problem the settings that would: a pointer to the
     * setting, what to do with it ("add this counterset") as the message, and the value as the suggestion. Report
     * nothing if no settings would. UNSUPPORTED: not known, which is also the meaning of null. FAILED, PANICKED: with a
     * message. */
    perfmon_status (*selects)(const perfmon_configure *request);
} perfmon_plugin;

/* The exported symbol. Called once, on the thread that loads the library. `host` lives as long as the process. The plugin
 * compares host->abi_major with its own: if they differ it returns PERFMON_VERSION, else it fills plugin_host. With FAILED it
 * writes the cause to error_host. It starts no thread before the first create() or run(). */
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

#endif /* PERFMON_PLUGIN_H */
