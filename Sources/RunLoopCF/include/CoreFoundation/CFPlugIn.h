//===----------------------------------------------------------------------===//
// CFPlugIn.h — plug-ins: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFPLUGIN_H
#define RUNLOOP_CF_CFPLUGIN_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_PLUG_IN "runloop-cf has no plug-ins"

CF_EXTERN_C_BEGIN

CF_MISSING(CFPlugInAddInstanceForFactory, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInCreate, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInFindFactoriesForPlugInType, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInFindFactoriesForPlugInTypeInPlugIn, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInGetBundle, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInGetTypeID, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInInstanceCreate, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInInstanceCreateWithInstanceDataSize, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInInstanceGetFactoryName, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInInstanceGetInstanceData, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInInstanceGetInterfaceFunctionTable, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInInstanceGetTypeID, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInIsLoadOnDemand, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInRegisterFactoryFunction, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInRegisterFactoryFunctionByName, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInRegisterPlugInType, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInRemoveInstanceForFactory, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInSetLoadOnDemand, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInUnregisterFactory, CF_NO_PLUG_IN)
CF_MISSING(CFPlugInUnregisterPlugInType, CF_NO_PLUG_IN)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFPLUGIN_H
