#!/bin/sh
# An agent that is stopped in a moment of its turn: `stopped.sh PROTOCOL MOMENT KIND FOLDER NAME MARK`. It says that it
# has got there with the file NAME.reached. KIND `deaf` heeds neither its protocol's word nor SIGTERM, and has a child
# that does not either; `good` ends its turn when it is told to. With the file NAME.again it answers "well" at once.
# MARK is a number of seconds that no other test sleeps.
moment=$2
kind=$3
folder=$4
name=$5
mark=$6

say() { printf '%s\n' "$1"; }
again() { [ -e "$folder/$name.again" ]; }
reach() { : >"$folder/$name.reached"; }
hang() { while :; do sleep "$mark"; done; }
# Where a good agent goes on, a deaf one hangs.
stay() {
  reach
  if [ "$kind" = deaf ]; then hang; fi
}

zot() {
  running=
  while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    if [ "$moment" = starting ] && ! again; then
      stay
      hang
    fi
    command=${line#*\"type\":\"}
    say '{"type":"response","id":"'"$id"'","command":"'"${command%%\"*}"'","success":true,"data":{"protocol_version":1}}'
    case $line in
      *'"type":"abort"'*)
        if [ -n "$running" ]; then
          running=
          say '{"type":"turn_end","stop":"aborted","error":"context canceled"}'
          say '{"type":"done"}'
        fi
        ;;
      *'"type":"prompt"'*)
        say '{"type":"turn_start","step":1}'
        say '{"type":"assistant_start"}'
        if again; then
          say '{"type":"text_delta","delta":"well"}'
          say '{"type":"turn_end","stop":"end_turn"}'
          say '{"type":"done"}'
        else
          running=yes
          if [ "$moment" != before-text ]; then say '{"type":"text_delta","delta":"I wi"}'; fi
          if [ "$moment" = in-a-tool ]; then say '{"type":"tool_call","id":"t1","name":"bash","args":{"command":"x"}}'; fi
          stay
        fi
        ;;
    esac
  done
}

agentproc() {
  IFS= read -r line
  if again; then
    say '{"type":"result","text":"well"}'
  elif [ "$moment" = asking ]; then
    say '{"type":"permission_request","request_id":"p1","tool_name":"rm","input":{}}'
    stay
    IFS= read -r line
    say '{"type":"result","text":"told"}'
  else
    say '{"type":"result","text":"answered"}'
    reach
    hang
  fi
}

zene() {
  IFS= read -r line
  request=${line#*\"request_id\":\"}
  if again; then text=well; else text=answered; fi
  say '{"ok":true,"request_id":"'"${request%%\"*}"'","session_id":"s","text":"'"$text"'","error_code":null,"error_message":null,"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
  if [ $text = answered ]; then
    reach
    hang
  fi
}

if [ "$kind" = deaf ] && ! again; then
  trap '' TERM
  sleep "$mark" &
fi
"$1"
