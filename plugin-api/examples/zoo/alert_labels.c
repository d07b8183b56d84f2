/* SPDX-License-Identifier: Apache-2.0 */
/* Says which fields identify an alert, in ways that can be and that cannot. */
#include "common.h"
static void tell(const perfmon_collect *request, const char *what, uint32_t labels, perfmon_array fields) {
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.alert"),
                                 .body = STR("An animal is missing."), .fields = fields, .alert_state = PERFMON_ALERT_OPEN,
                                 .alert_labels = labels, .alert = STR("bear")};
    say(request->instance, what, host->event(request->instance, &event));
}
static perfmon_status collect(const perfmon_collect *request) {
    const perfmon_label good[] = {{STR("cage"), STR("7")}, {STR("species"), STR("ursus \"arctos\"")}, {STR("a.b"), STR("c")}};
    const perfmon_label reserved[] = {{STR("__name__"), STR("7")}};
    const perfmon_label twice[] = {{STR("cage"), STR("7")}, {STR("cage"), STR("8")}};
    const perfmon_array fields = ARRAY(good), of_prometheus = ARRAY(reserved), doubled = ARRAY(twice);
    tell(request, "two", 2, fields);
    tell(request, "none", 0, fields);
    tell(request, "a detail", 0, of_prometheus);
    tell(request, "too many", 4, fields);
    tell(request, "no name", 3, fields);
    tell(request, "reserved", 1, of_prometheus);
    tell(request, "twice", 2, doubled);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
