//===----------------------------------------------------------------------===//
// CFURL.h — URLs: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFURL_H
#define RUNLOOP_CF_CFURL_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_URL "runloop-cf has no URLs"

CF_EXTERN_C_BEGIN

CF_MISSING(CFURLCanBeDecomposed, CF_NO_URL)
CF_MISSING(CFURLClearResourcePropertyCache, CF_NO_URL)
CF_MISSING(CFURLClearResourcePropertyCacheForKey, CF_NO_URL)
CF_MISSING(CFURLCopyAbsoluteURL, CF_NO_URL)
CF_MISSING(CFURLCopyFileSystemPath, CF_NO_URL)
CF_MISSING(CFURLCopyFragment, CF_NO_URL)
CF_MISSING(CFURLCopyHostName, CF_NO_URL)
CF_MISSING(CFURLCopyLastPathComponent, CF_NO_URL)
CF_MISSING(CFURLCopyNetLocation, CF_NO_URL)
CF_MISSING(CFURLCopyParameterString, CF_NO_URL)
CF_MISSING(CFURLCopyPassword, CF_NO_URL)
CF_MISSING(CFURLCopyPath, CF_NO_URL)
CF_MISSING(CFURLCopyPathExtension, CF_NO_URL)
CF_MISSING(CFURLCopyQueryString, CF_NO_URL)
CF_MISSING(CFURLCopyResourcePropertiesForKeys, CF_NO_URL)
CF_MISSING(CFURLCopyResourcePropertyForKey, CF_NO_URL)
CF_MISSING(CFURLCopyResourceSpecifier, CF_NO_URL)
CF_MISSING(CFURLCopyScheme, CF_NO_URL)
CF_MISSING(CFURLCopyStrictPath, CF_NO_URL)
CF_MISSING(CFURLCopyUserName, CF_NO_URL)
CF_MISSING(CFURLCreateAbsoluteURLWithBytes, CF_NO_URL)
CF_MISSING(CFURLCreateCopyAppendingPathComponent, CF_NO_URL)
CF_MISSING(CFURLCreateCopyAppendingPathExtension, CF_NO_URL)
CF_MISSING(CFURLCreateCopyDeletingLastPathComponent, CF_NO_URL)
CF_MISSING(CFURLCreateCopyDeletingPathExtension, CF_NO_URL)
CF_MISSING(CFURLCreateData, CF_NO_URL)
CF_MISSING(CFURLCreateDataAndPropertiesFromResource, CF_NO_URL)
CF_MISSING(CFURLCreateFileReferenceURL, CF_NO_URL)
CF_MISSING(CFURLCreateFromFileSystemRepresentation, CF_NO_URL)
CF_MISSING(CFURLCreateFromFileSystemRepresentationRelativeToBase, CF_NO_URL)
CF_MISSING(CFURLCreatePropertyFromResource, CF_NO_URL)
CF_MISSING(CFURLCreateStringByAddingPercentEscapes, CF_NO_URL)
CF_MISSING(CFURLCreateStringByReplacingPercentEscapes, CF_NO_URL)
CF_MISSING(CFURLCreateStringByReplacingPercentEscapesUsingEncoding, CF_NO_URL)
CF_MISSING(CFURLCreateStringWithFileSystemPath, CF_NO_URL)
CF_MISSING(CFURLCreateWithBytes, CF_NO_URL)
CF_MISSING(CFURLCreateWithFileSystemPath, CF_NO_URL)
CF_MISSING(CFURLCreateWithFileSystemPathRelativeToBase, CF_NO_URL)
CF_MISSING(CFURLCreateWithString, CF_NO_URL)
CF_MISSING(CFURLDestroyResource, CF_NO_URL)
CF_MISSING(CFURLGetBaseURL, CF_NO_URL)
CF_MISSING(CFURLGetByteRangeForComponent, CF_NO_URL)
CF_MISSING(CFURLGetBytes, CF_NO_URL)
CF_MISSING(CFURLGetBytesUsingEncoding, CF_NO_URL)
CF_MISSING(CFURLGetFileSystemRepresentation, CF_NO_URL)
CF_MISSING(CFURLGetPortNumber, CF_NO_URL)
CF_MISSING(CFURLGetString, CF_NO_URL)
CF_MISSING(CFURLGetTypeID, CF_NO_URL)
CF_MISSING(CFURLHasDirectoryPath, CF_NO_URL)
CF_MISSING(CFURLSetResourcePropertiesForKeys, CF_NO_URL)
CF_MISSING(CFURLSetResourcePropertyForKey, CF_NO_URL)
CF_MISSING(CFURLSetTemporaryResourcePropertyForKey, CF_NO_URL)
CF_MISSING(CFURLWriteDataAndPropertiesToResource, CF_NO_URL)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFURL_H
