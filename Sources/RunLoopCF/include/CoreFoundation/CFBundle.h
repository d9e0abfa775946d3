//===----------------------------------------------------------------------===//
// CFBundle.h — bundles: not here. Each function is declared unavailable; see CFMissing.h.
//===----------------------------------------------------------------------===//
#ifndef RUNLOOP_CF_CFBUNDLE_H
#define RUNLOOP_CF_CFBUNDLE_H

#include <CoreFoundation/CFMissing.h>

#pragma GCC system_header

#define CF_NO_BUNDLE "runloop-cf has no bundles"

CF_EXTERN_C_BEGIN

CF_MISSING(CFBundleCopyAuxiliaryExecutableURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyBuiltInPlugInsURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyBundleLocalizations, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyBundleURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyExecutableArchitectures, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyExecutableArchitecturesForURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyExecutableURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyInfoDictionaryForURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyInfoDictionaryInDirectory, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyLocalizationForLocalizationInfo, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyLocalizationsForPreferences, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyLocalizationsForURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyLocalizedString, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyLocalizedStringForLocalization, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyPreferredLocalizationsFromArray, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyPrivateFrameworksURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourceURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourceURLForLocalization, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourceURLInDirectory, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourceURLsOfType, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourceURLsOfTypeForLocalization, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourceURLsOfTypeInDirectory, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopyResourcesDirectoryURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopySharedFrameworksURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopySharedSupportURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCopySupportFilesDirectoryURL, CF_NO_BUNDLE)
CF_MISSING(CFBundleCreate, CF_NO_BUNDLE)
CF_MISSING(CFBundleCreateBundlesFromDirectory, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetAllBundles, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetBundleWithIdentifier, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetDataPointerForName, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetDataPointersForNames, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetDevelopmentRegion, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetExecutableType, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetFunctionPointerForName, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetFunctionPointersForNames, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetIdentifier, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetInfoDictionary, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetLocalInfoDictionary, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetLocalizationInfoForLocalization, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetMainBundle, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetPackageInfo, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetPackageInfoInDirectory, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetPlugIn, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetTypeID, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetValueForInfoDictionaryKey, CF_NO_BUNDLE)
CF_MISSING(CFBundleGetVersionNumber, CF_NO_BUNDLE)
CF_MISSING(CFBundleIsExecutableLoaded, CF_NO_BUNDLE)
CF_MISSING(CFBundleLoadExecutable, CF_NO_BUNDLE)
CF_MISSING(CFBundleLoadExecutableAndReturnError, CF_NO_BUNDLE)
CF_MISSING(CFBundlePreflightExecutable, CF_NO_BUNDLE)
CF_MISSING(CFBundleUnloadExecutable, CF_NO_BUNDLE)

CF_EXTERN_C_END

#endif // RUNLOOP_CF_CFBUNDLE_H
