#include "dlcbf.h"
const struct noun save_noun = { .name = "save" };
