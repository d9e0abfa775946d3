"""The scenarios of Interop/Bindings/python."""

import sys

import asyncio_scenarios, core_scenarios, linux_scenarios  # Which have the scenarios.
import faults

sys.exit(faults.main())
