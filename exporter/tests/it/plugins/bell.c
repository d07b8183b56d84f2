/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that rings: each collection reports one event that tells how often it rang and how long the stages of the
 * collection took, so that a collector's log records and spans can be held against each other. Every third one fails.
 * One target only: what it counts is static.
 */
#include "common.h"
#include <time.h>

#define NAME STR("bell")
#define MODE PERFMON_MODE_BLOCKING
#define COLLECT collect

static uint64_t rings;

static perfmon_str text(char *room, size_t size, uint64_t number) {
    return (perfmon_str){room, (uint64_t)snprintf(room, size, "%llu", (unsigned long long)number)};
}

/* A stage that takes a while and ends now. */
static perfmon_stage stage(uint32_t which, uint64_t number) {
    const uint64_t start_ns = host->now_ns();
    nanosleep(&(struct timespec){0, 2000000 * (long)which}, NULL);
    return (perfmon_stage){.size = sizeof(perfmon_stage), .stage = which, .start_ns = start_ns,
                           .duration_ns = host->now_ns() - start_ns, .calls = number, .bytes_in = 1000 * number,
                           .bytes_out = number + 7};
}

static void ring(uint64_t instance, uint64_t number, const perfmon_stage stages[3]) {
    char texts[4][24], body[80];
    const perfmon_label fields[] = {
        {STR("number"), text(texts[0], sizeof(texts[0]), number)},
        {STR("tcp_ns"), text(texts[1], sizeof(texts[1]), stages[0].duration_ns)},
        {STR("query_ns"), text(texts[2], sizeof(texts[2]), stages[1].duration_ns)},
        {STR("decode_ns"), text(texts[3], sizeof(texts[3]), stages[2].duration_ns)},
        {STR("tower"), STR("St. Mary's \"Big\" \\ Glöckchen\n")},
        {STR("nothing"), STR("")},
    };
    const int length = snprintf(body, sizeof(body), "Rang %llu: \"döng\" \\ and\nagain", (unsigned long long)number);
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_ERROR + (uint32_t)(number % 5),
                                 .name = STR("bell.rang"),
                                 .time_unix_ns = number % 2 ? 1700000000000000000 + (int64_t)number : 0,
                                 .body = {body, (uint64_t)length}, .fields = ARRAY(fields)};
    host->event(instance, &event);
}

static perfmon_status collect(const perfmon_collect *request) {
    const uint64_t number = ++rings;
    const perfmon_stage stages[] = {stage(PERFMON_STAGE_TCP, number), stage(PERFMON_STAGE_QUERY, number),
                                    stage(PERFMON_STAGE_DECODE, number)};
    ring(request->instance, number, stages);
    perfmon_completion done = {.size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FULL, .stages = ARRAY(stages)};
    if (number % 3 == 0) {
        done.outcome = PERFMON_OUTCOME_FAILED;
        done.failure_stage = PERFMON_STAGE_QUERY;
        done.failure_reason = PERFMON_REASON_ACCESS_DENIED;
        done.message = (perfmon_str)STR("the ringer sleeps");
    }
    return host->complete(request->instance, request->collection, &done);
}
#include "table.h"
