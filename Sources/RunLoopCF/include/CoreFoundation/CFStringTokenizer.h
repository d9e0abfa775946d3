//===----------------------------------------------------------------------===//
// CFStringTokenizer.h — words of a string: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFSTRINGTOKENIZER_H
#define RUNLOOP_CF_CFSTRINGTOKENIZER_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_STRING_TOKENIZER "runloop-cf has no tokenizer"

CF_EXTERN_C_BEGIN

CF_MISSING(CFStringTokenizerAdvanceToNextToken, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerCopyBestStringLanguage, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerCopyCurrentTokenAttribute, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerCreate, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerGetCurrentSubTokens, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerGetCurrentTokenRange, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerGetTypeID, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerGoToTokenAtIndex, CF_NO_STRING_TOKENIZER)
CF_MISSING(CFStringTokenizerSetString, CF_NO_STRING_TOKENIZER)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFSTRINGTOKENIZER_H
