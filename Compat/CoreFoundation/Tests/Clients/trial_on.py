"""Twisted's trial, in which the tests that make reactors of their own make those named first: trial_on.py REACTOR ARGUMENTS"""

import sys

from twisted.internet.test.reactormixins import ReactorBuilder
from twisted.scripts.trial import run
from twisted.test.test_logfile import LogFileTests

# As root it takes the right to write from /dev/null, from everybody and for good.
del LogFileTests.test_cantChangeFileMode
ReactorBuilder._reactors = [sys.argv.pop(1)]
run()
