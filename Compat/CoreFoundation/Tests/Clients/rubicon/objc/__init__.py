"""The modules here replace those that need Objective-C. The event loop is that of the installed package."""

from importlib.metadata import distribution

__path__.append(str(distribution("rubicon-objc").locate_file("rubicon/objc")))
