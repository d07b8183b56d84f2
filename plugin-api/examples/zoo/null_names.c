/* SPDX-License-Identifier: Apache-2.0 */
/* Its source has a name of five bytes at no address. */
#include "common.h"
#define SOURCE_NAME {NULL, 5}
#include "table.h"
