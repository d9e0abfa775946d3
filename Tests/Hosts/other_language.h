// other_language.h — the host of a test is in another file, in another language.
#ifndef OTHER_LANGUAGE_H
#define OTHER_LANGUAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void host_attach(const char *mode);
void host_detach(void);
void host_iterate(int64_t limit_ns);
#ifdef __cplusplus
}
#endif

#endif // OTHER_LANGUAGE_H
