#!/usr/bin/env python3
"""A browser whose person always agrees: opens the address and goes where it is sent."""
import sys
import urllib.request

urllib.request.urlopen(sys.argv[1], timeout=30).read()
