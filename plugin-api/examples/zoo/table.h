/* SPDX-License-Identifier: Apache-2.0
 *
 * The rest of a plugin of the zoo: what it did not define itself is done right.
 */
#ifndef VALIDATE
#define VALIDATE zoo_validate
UNUSED static perfmon_status zoo_validate(const perfmon_configure *request) { (void)request; return PERFMON_OK; }
#endif
#ifndef CREATE
#define CREATE zoo_create
static perfmon_status zoo_create(const perfmon_configure *request) { (void)request; return PERFMON_OK; }
#endif
#ifndef RECONFIGURE
#define RECONFIGURE VALIDATE
#endif
#ifndef COLLECT
#define COLLECT zoo_collect
static perfmon_status zoo_collect(const perfmon_collect *request) {
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#endif
#ifndef CANCEL
#define CANCEL zoo_cancel
static void zoo_cancel(uint64_t token) { (void)token; }
#endif
#ifndef DESTROY
#define DESTROY zoo_destroy
static void zoo_destroy(uint64_t instance) { host->destroyed(instance); }
#endif
#ifndef MODE
#define MODE PERFMON_MODE_ASYNC
#endif
#ifndef MAJOR
#define MAJOR PERFMON_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR PERFMON_ABI_MINOR
#endif
#ifndef NAME
#define NAME STR("zoo")
#endif
#ifndef SOURCE_NAME
#define SOURCE_NAME STR("animal")
#endif
#ifndef END
#define END NULL
#endif
#ifndef SELECTS
#define SELECTS NULL
#endif
#ifndef CONFIGURE
#define CONFIGURE NULL
#endif
#ifndef COMMANDS
#define COMMANDS {NULL, 0, 0, 0}
#define RUN NULL
#endif
#ifndef SHOWN_KEYS
#define SHOWN_KEYS {NULL, 0, 0, 0}
#endif
#ifndef MORE_SOURCES
#define MORE_SOURCES
#endif
#ifndef SOURCE_FLAGS
#define SOURCE_FLAGS 0
#endif
#ifndef TRANSPORTS
#define TRANSPORTS {NULL, 0, 0, 0}
#endif

static const perfmon_source sources[] = {
    {.size = sizeof(perfmon_source), .mode = MODE, .name = SOURCE_NAME, .help = STR("Lives in the zoo"), .shown = SHOWN_KEYS,
     .transports = TRANSPORTS, .flags = SOURCE_FLAGS},
    MORE_SOURCES
};

static const perfmon_plugin plugin = {
    .size = sizeof(perfmon_plugin), .abi_major = MAJOR, .abi_minor = MINOR,
    .name = NAME, .version = STR("0"), .description = STR("Broken on purpose"), .sources = ARRAY(sources),
    .commands = COMMANDS, .run = RUN, .configure = CONFIGURE, .end = END, .selects = SELECTS,
    .validate = VALIDATE, .create = CREATE, .reconfigure = RECONFIGURE, .collect = COLLECT, .cancel = CANCEL,
    .destroy = DESTROY,
};

perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    (void)error_host;
    host = table;
    uint32_t room = plugin_host->size < sizeof(plugin) ? plugin_host->size : (uint32_t)sizeof(plugin);
    memcpy(plugin_host, &plugin, room);
    plugin_host->size = room;
    return PERFMON_OK;
}
