#!/bin/sh
# An AGENT_ script: the message comes in the environment, the answer goes to stdout.
# Its session id is the number of the turn, so it needs no place to keep anything.

turn=1
case $AGENT_SESSION_ID in
  turn-*) turn=$((${AGENT_SESSION_ID#turn-} + 1)) ;;
esac
printf 'AGENT_SESSION:turn-%s\n' "$turn"

# Quoted lines of the message can never be read as AGENT_ lines.
if [ "$AGENT_STREAMING" = 1 ]; then
  printf 'AGENT_PARTIAL:"Turn %s of this session. You said:"\n' "$turn"
  printf '%s\n' "$AGENT_MESSAGE" | sed -e 's/[\\"]/\\&/g' -e 's/.*/AGENT_PARTIAL:"\\n> &"/'
else
  printf 'Turn %s of this session. You said:\n' "$turn"
  printf '%s\n' "$AGENT_MESSAGE" | sed 's/^/> /'
fi
