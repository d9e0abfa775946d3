//===----------------------------------------------------------------------===//
// CFPropertyList.h — property lists: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFPROPERTYLIST_H
#define RUNLOOP_CF_CFPROPERTYLIST_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_PROPERTY_LIST "runloop-cf has no property lists"

CF_EXTERN_C_BEGIN

CF_MISSING(CFPropertyListCreateData, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListCreateDeepCopy, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListCreateFromStream, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListCreateFromXMLData, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListCreateWithData, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListCreateWithStream, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListCreateXMLData, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListIsValid, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListWrite, CF_NO_PROPERTY_LIST)
CF_MISSING(CFPropertyListWriteToStream, CF_NO_PROPERTY_LIST)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFPROPERTYLIST_H
