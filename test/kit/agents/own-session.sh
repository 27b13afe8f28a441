#!/bin/sh
# An AgentProc 0.1 agent that names its session, and fails when it is told to.
echo "AGENT_SESSION:${AGENT_SESSION_ID:-own-1}"
if [ "$AGENT_MESSAGE" = fail ]; then
  echo 'AGENT_ERROR:"no"'
  exit 1
fi
echo "I am in ${AGENT_SESSION_ID:-none}."
