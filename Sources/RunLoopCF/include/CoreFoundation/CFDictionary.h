//===----------------------------------------------------------------------===//
// CFDictionary.h — dictionaries: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFDICTIONARY_H
#define RUNLOOP_CF_CFDICTIONARY_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_DICTIONARY "runloop-cf has no dictionaries"

CF_EXTERN_C_BEGIN

CF_MISSING(CFDictionaryAddValue, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryApplyFunction, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryContainsKey, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryContainsValue, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryCreate, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryCreateCopy, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryCreateMutable, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryCreateMutableCopy, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetCount, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetCountOfKey, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetCountOfValue, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetKeyIfPresent, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetKeysAndValues, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetTypeID, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetValue, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryGetValueIfPresent, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryRemoveAllValues, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryRemoveValue, CF_NO_DICTIONARY)
CF_MISSING(CFDictionaryReplaceValue, CF_NO_DICTIONARY)
CF_MISSING(CFDictionarySetValue, CF_NO_DICTIONARY)
CF_MISSING_CONSTANT(kCFCopyStringDictionaryKeyCallBacks, CF_NO_DICTIONARY)
CF_MISSING_CONSTANT(kCFTypeDictionaryKeyCallBacks, CF_NO_DICTIONARY)
CF_MISSING_CONSTANT(kCFTypeDictionaryValueCallBacks, CF_NO_DICTIONARY)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFDICTIONARY_H
