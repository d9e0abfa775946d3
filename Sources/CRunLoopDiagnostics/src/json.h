// json.h — strings for JSON, which is UTF-8 whatever they are.
#ifndef RUNLOOP_JSON_H
#define RUNLOOP_JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/// How many bytes the letter has with which a text begins; 0: it begins with none.
static inline size_t json_letter(const unsigned char *text, size_t length) {
    unsigned char first = text[0], second = length > 1 ? text[1] : 0;
    size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    // What would have a shorter form, halves of UTF-16 and what is beyond the last letter.
    bool is_refused = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    for (size_t i = 1; i < size; i++)
        is_refused |= i >= length || (text[i] & 0xc0) != 0x80;
    return is_refused ? 0 : size;
}

/// Bytes that are no letter become U+FFFD.
static inline void json_write_text(FILE *text, const char *string, size_t length) {
    fputc('"', text);
    for (size_t i = 0, size; i < length; i += size ? size : 1) {
        const unsigned char *letter = (const unsigned char *)string + i;
        size = json_letter(letter, length - i);
        if (size == 0)
            fputs("\\ufffd", text);
        else if (*letter == '"' || *letter == '\\')
            fprintf(text, "\\%c", *letter);
        else if (*letter < 0x20)
            fprintf(text, "\\u%04x", *letter);
        else
            fwrite(letter, 1, size, text);
    }
    fputc('"', text);
}

static inline void json_write_string(FILE *text, const char *string) {
    json_write_text(text, string, strlen(string));
}

#endif // RUNLOOP_JSON_H
