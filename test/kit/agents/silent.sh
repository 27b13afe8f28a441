#!/bin/sh
# Never answers, and has a grandchild that never does either.
sleep 1000 &
wait
