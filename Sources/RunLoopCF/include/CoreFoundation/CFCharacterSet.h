//===----------------------------------------------------------------------===//
// CFCharacterSet.h — sets of characters: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFCHARACTERSET_H
#define RUNLOOP_CF_CFCHARACTERSET_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_CHARACTER_SET "runloop-cf has no character sets"

CF_EXTERN_C_BEGIN

CF_MISSING(CFCharacterSetAddCharactersInRange, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetAddCharactersInString, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateBitmapRepresentation, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateCopy, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateInvertedSet, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateMutable, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateMutableCopy, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateWithBitmapRepresentation, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateWithCharactersInRange, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetCreateWithCharactersInString, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetGetPredefined, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetGetTypeID, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetHasMemberInPlane, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetInitInlineBuffer, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetIntersect, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetInvert, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetIsCharacterMember, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetIsLongCharacterMember, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetIsSupersetOfSet, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetIsSurrogatePairMember, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetRemoveCharactersInRange, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetRemoveCharactersInString, CF_NO_CHARACTER_SET)
CF_MISSING(CFCharacterSetUnion, CF_NO_CHARACTER_SET)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFCHARACTERSET_H
