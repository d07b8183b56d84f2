/* SPDX-License-Identifier: Apache-2.0 */
/* Exports the entry of another major version only. */
__attribute__((visibility("default"))) int perfmon_plugin_entry_v2(void);
int perfmon_plugin_entry_v2(void) { return 0; }
