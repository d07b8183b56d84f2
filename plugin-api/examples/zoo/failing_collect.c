/* SPDX-License-Identifier: Apache-2.0 */
/* Its collect fails by a fault of its own, every time. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    (void)request;
    return PERFMON_FAILED;
}
#include "table.h"
