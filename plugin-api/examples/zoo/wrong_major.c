/* SPDX-License-Identifier: Apache-2.0 */
/* Says that it speaks another major version. */
#include "common.h"
#define MAJOR 2
#include "table.h"
