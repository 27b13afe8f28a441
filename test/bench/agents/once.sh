#!/bin/sh
# An AGENT_ script: one process a turn, one line of body.
echo "$AGENT_MESSAGE"
