#!/bin/sh
# Never answers, and has a grandchild that never does either. Its argument (seconds) tells one test's processes from another's.
sleep "$1" &
wait
