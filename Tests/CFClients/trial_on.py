"""Twisted's trial, in which the tests that make reactors of their own make those named first: trial_on.py REACTOR ARGUMENTS"""

import sys

from twisted.internet.test.reactormixins import ReactorBuilder
from twisted.scripts.trial import run

ReactorBuilder._reactors = [sys.argv.pop(1)]
run()
