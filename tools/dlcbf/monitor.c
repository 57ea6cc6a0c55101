#include "dlcbf.h"
const struct noun monitor_noun = { .name = "monitor" };
