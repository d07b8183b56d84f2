/* SPDX-License-Identifier: Apache-2.0 */
/* Says what identifies an alert, in ways that can be and that cannot. */
#include "common.h"
static void tell(const perfmon_collect *request, const char *what, perfmon_array labels, perfmon_array fields) {
    const perfmon_alert alert = {.size = sizeof(perfmon_alert), .state = PERFMON_ALERT_OPEN, .id = STR("bear"), .labels = labels};
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.alert"),
                                 .body = STR("An animal is missing."), .fields = fields, .alert = &alert};
    say(request->instance, what, host->event(request->instance, &event));
}
static perfmon_status collect(const perfmon_collect *request) {
    const perfmon_label good[] = {{STR("cage"), STR("7")}, {STR("species"), STR("ursus \"arctos\"")}};
    const perfmon_label dotted[] = {{STR("cage"), STR("7")}, {STR("a.b"), STR("c")}};
    const perfmon_label reserved[] = {{STR("__name__"), STR("7")}};
    const perfmon_label twice[] = {{STR("cage"), STR("7")}, {STR("cage"), STR("8")}};
    perfmon_label many[33];
    for (int each = 0; each < 33; each++)
        many[each] = good[0];
    const perfmon_array none = {NULL, 0, sizeof(perfmon_label), 0};
    const perfmon_array two = ARRAY(good), dots = ARRAY(dotted), of_prometheus = ARRAY(reserved), doubled = ARRAY(twice);
    const perfmon_array beyond = ARRAY(many);
    tell(request, "two", two, none);
    tell(request, "none", none, two);
    tell(request, "a detail", none, of_prometheus);
    tell(request, "too many", beyond, none);
    tell(request, "no name", dots, none);
    tell(request, "reserved", of_prometheus, none);
    tell(request, "twice", doubled, none);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
