/* SPDX-License-Identifier: Apache-2.0 */
/* Has two sources, none of its own name. The first accepts nothing. */
#include "common.h"
#define NAME STR("pair")
#define MORE_SOURCES {.size = sizeof(perfmon_source), .mode = PERFMON_MODE_ASYNC, .name = STR("plant"), .help = STR("Grows")},
#define VALIDATE validate
#define CREATE validate
static perfmon_status validate(const perfmon_configure *request) {
    const perfmon_problem problem = {
        .size = sizeof(perfmon_problem), .pointer = STR(""), .message = STR("no animal is here"), .suggestion = STR("")};
    if (request->source == 1) {
        return PERFMON_OK;
    }
    host->problem(request->report, &problem);
    return PERFMON_INVALID;
}
#include "table.h"
