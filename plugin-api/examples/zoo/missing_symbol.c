/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library, but not a plugin. */
__attribute__((visibility("default"))) int answer(void);
int answer(void) { return 42; }
