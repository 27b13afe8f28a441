#!/bin/sh
# An agent that asks for approval before it acts: `asker.sh PROTOCOL FOLDER`. What it is told from then on it keeps, line
# by line, in a file of the folder that has the prompt's name. Its answer is "told", whatever it was told.
protocol=$1
folder=$2
description='Removes a file.'

say() { printf '%s\n' "$1"; }

# The string that follows a key in a line: `value KEY LINE`.
value() {
  rest=${2#*\"$1\":\"}
  printf '%s' "${rest%%\"*}"
}

keep() { printf '%s\n' "$1" >>"$folder/$name"; }

agentproc() {
  # Ends by itself once it has its answer, so that it hears what it is told when its turn is stopped.
  trap '' TERM
  IFS= read -r line
  name=$(value message "$line")
  say '{"type":"permission_request","request_id":"p1","tool_name":"rm","input":{"path":"/x","n":1.0},"description":"'"$description"'"}'
  IFS= read -r line
  keep "$line"
  say '{"type":"result","text":"told"}'
}

qwen() {
  options='[{"id":"once","kind":"allow","scope":"once","label":"Yes"},{"id":"ever","kind":"allow","scope":"always","label":"Always"},{"id":"no","kind":"deny","scope":"once","label":"No"}]'
  while IFS= read -r line; do
    case $line in
      *'"type":"control/cancel"'*)
        keep "$line"
        say '{"type":"result/cancel","status":"ok"}'
        say '{"type":"x-qwen-session-event","event":"USER_CANCELLED"}'
        ;;
      *'"type":"control_response"'*)
        keep "$line"
        say '{"object":"chat.completion","id":"c1","created":1,"choices":[{"index":0,"message":{"role":"assistant","content":"told"},"finish_reason":"stop"}]}'
        say '{"type":"x-qwen-session-event","event":"Finished"}'
        ;;
      *'"input":'*)
        name=$(value text "$line")
        say '{"type":"control_request","request_id":"p1","subtype":"can_use_tool","tool":{"name":"rm","arguments":{"path":"/x","n":1.0}},"metadata":{"reason":"'"$description"'","options":'"$options"'}}'
        ;;
    esac
  done
}

code_result() {
  say '{"type":"result","uuid":"r","session_id":"11111111-2222-4333-8444-555555555555","duration_ms":1,"duration_api_ms":1,"num_turns":1,"permission_denials":[],'"$1"'}'
}

qwen_code() {
  session='"session_id":"11111111-2222-4333-8444-555555555555"'
  while IFS= read -r line; do
    case $line in
      *'"subtype":"initialize"'* | *'"subtype":"interrupt"'*)
        id=$(value request_id "$line")
        say '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{}}}'
        case $line in
          *interrupt*)
            keep "$line"
            code_result '"subtype":"error_during_execution","is_error":true,"error":{"type":"cancelled","message":"Operation cancelled."}'
            ;;
        esac
        ;;
      *'"type":"control_response"'*)
        keep "$line"
        say '{"type":"assistant","uuid":"u","parent_tool_use_id":null,'"$session"',"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"told"}],"usage":{}}}'
        code_result '"subtype":"success","is_error":false,"result":"told"'
        ;;
      *'"type":"user"'*)
        name=$(value content "$line")
        say '{"type":"system","subtype":"init","uuid":"u0","cwd":"/","tools":[],"model":"m",'"$session"'}'
        say '{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"rm","tool_use_id":"t1","input":{"path":"/x","n":1.0},"permission_suggestions":[{"type":"allow","label":"Yes","description":"'"$description"'"},{"type":"deny","label":"No"}],"blocked_path":null}}'
        ;;
    esac
  done
}

native() {
  say '{"type":"agent-ready"}'
  options='[{"id":"once","kind":"allow","scope":"once","label":"Yes"},{"id":"ever","kind":"allow","scope":"always","label":"Always"},{"id":"no","kind":"deny","scope":"once","label":"No"}]'
  while IFS= read -r line; do
    case $line in
      *'"type":"turn-cancel"'*)
        keep "$line"
        say '{"type":"turn-end","turn":"'"$turn"'","outcome":"cancelled"}'
        ;;
      *'"type":"ask-reply"'*)
        keep "$line"
        say '{"type":"message-start","turn":"'"$turn"'","message":"m1","role":"assistant"}'
        say '{"type":"message-end","turn":"'"$turn"'","message":"m1","parts":[{"type":"text","text":"told"}]}'
        say '{"type":"turn-end","turn":"'"$turn"'","outcome":"completed"}'
        ;;
      *'"type":"turn-start"'*)
        turn=$(value turn "$line")
        name=$(value text "$line")
        say '{"type":"ask","turn":"'"$turn"'","ask":"p1","question":{"kind":"approval","name":"rm","args":{"path":"/x","n":1.0},"description":"'"$description"'","options":'"$options"',"editable":true}}'
        ;;
    esac
  done
}

case $protocol in
  agentproc@0.4) agentproc ;;
  qwen) qwen ;;
  qwen-code) qwen_code ;;
  native) native ;;
esac
