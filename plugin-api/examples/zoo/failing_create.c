/* SPDX-License-Identifier: Apache-2.0 */
/* Cannot make an instance, and says why. */
#include "common.h"
#define CREATE create
static perfmon_status create(const perfmon_configure *request) {
    fail_with(request->error_host, "the cage is locked");
    return PERFMON_FAILED;
}
#include "table.h"
