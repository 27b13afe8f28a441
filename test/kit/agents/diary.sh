#!/bin/sh
# An AGENT_ agent that writes down when it begins and ends, and takes a moment in between.
echo "begin $AGENT_MESSAGE" >>"$DIARY"
sleep 0.2
echo "end $AGENT_MESSAGE" >>"$DIARY"
echo "done: $AGENT_MESSAGE"
