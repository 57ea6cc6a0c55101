#include "dlcbf.h"
const struct noun top_noun = { .name = "top" };
