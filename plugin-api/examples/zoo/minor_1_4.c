/* SPDX-License-Identifier: Apache-2.0 */
/* Was compiled with the header of version 1.4, in which the number of an alert's labels was reserved. */
#define MINOR 4
#include "alert_labels.c"
