//===----------------------------------------------------------------------===//
// CFAttributedString.h — attributed strings: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFATTRIBUTEDSTRING_H
#define RUNLOOP_CF_CFATTRIBUTEDSTRING_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_ATTRIBUTED_STRING "runloop-cf has no attributed strings"

CF_EXTERN_C_BEGIN

CF_MISSING(CFAttributedStringBeginEditing, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringCreate, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringCreateCopy, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringCreateMutable, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringCreateMutableCopy, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringCreateWithSubstring, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringEndEditing, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetAttribute, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetAttributeAndLongestEffectiveRange, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetAttributes, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetAttributesAndLongestEffectiveRange, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetLength, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetMutableString, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetString, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringGetTypeID, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringRemoveAttribute, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringReplaceAttributedString, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringReplaceString, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringSetAttribute, CF_NO_ATTRIBUTED_STRING)
CF_MISSING(CFAttributedStringSetAttributes, CF_NO_ATTRIBUTED_STRING)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFATTRIBUTEDSTRING_H
