#!/usr/bin/env python3
"""A browser whose person always agrees: it opens the address and follows redirects."""
import sys
import urllib.request

urllib.request.urlopen(sys.argv[1], timeout=30).read()
