#!/bin/sh
# A Zene one-shot: reads its request, answers it with one line, exits. All that it uses is built into the shell.
IFS= read -r line
id=${line#*\"request_id\":\"}
id=${id%%\"*}
session=${line#*\"session_id\":\"}
session=${session%%\"*}
printf '{"ok":true,"request_id":"%s","session_id":"%s","text":"tick","error_code":null,"error_message":null}\n' "$id" "$session"
