// json.h — strings for JSON.
#ifndef RUNLOOP_JSON_H
#define RUNLOOP_JSON_H

#include <stdio.h>

static inline void json_write_string(FILE *text, const char *string) {
    fputc('"', text);
    for (const unsigned char *byte = (const unsigned char *)string; *byte; byte++) {
        if (*byte == '"' || *byte == '\\')
            fprintf(text, "\\%c", *byte);
        else if (*byte < 0x20)
            fprintf(text, "\\u%04x", *byte);
        else
            fputc(*byte, text);
    }
    fputc('"', text);
}

#endif // RUNLOOP_JSON_H
