#define GEN_PASS_DEF_UNKNOWN
#define DEBUG_TYPE "planted-unknown"
