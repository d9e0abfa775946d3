//===----------------------------------------------------------------------===//
// CFTree.h — trees: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFTREE_H
#define RUNLOOP_CF_CFTREE_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_TREE "runloop-cf has arrays and sets only"

CF_EXTERN_C_BEGIN

CF_MISSING(CFTreeAppendChild, CF_NO_TREE)
CF_MISSING(CFTreeApplyFunctionToChildren, CF_NO_TREE)
CF_MISSING(CFTreeCreate, CF_NO_TREE)
CF_MISSING(CFTreeFindRoot, CF_NO_TREE)
CF_MISSING(CFTreeGetChildAtIndex, CF_NO_TREE)
CF_MISSING(CFTreeGetChildCount, CF_NO_TREE)
CF_MISSING(CFTreeGetChildren, CF_NO_TREE)
CF_MISSING(CFTreeGetContext, CF_NO_TREE)
CF_MISSING(CFTreeGetFirstChild, CF_NO_TREE)
CF_MISSING(CFTreeGetNextSibling, CF_NO_TREE)
CF_MISSING(CFTreeGetParent, CF_NO_TREE)
CF_MISSING(CFTreeGetTypeID, CF_NO_TREE)
CF_MISSING(CFTreeInsertSibling, CF_NO_TREE)
CF_MISSING(CFTreePrependChild, CF_NO_TREE)
CF_MISSING(CFTreeRemove, CF_NO_TREE)
CF_MISSING(CFTreeRemoveAllChildren, CF_NO_TREE)
CF_MISSING(CFTreeSetContext, CF_NO_TREE)
CF_MISSING(CFTreeSortChildren, CF_NO_TREE)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFTREE_H
