#!/bin/sh
# A zot-RPC process that streams: for each line of the FIFO $1/N, N being the prompt, it writes one event with one write;
# the end of the FIFO ends the turn. All that it uses is built into the shell.
while IFS= read -r line; do
  id=${line#*\"id\":\"}
  id=${id%%\"*}
  case $line in
    *'"type":"hello"'*)
      printf '{"type":"response","id":"%s","command":"hello","success":true,"data":{"protocol_version":1,"version":"0","provider":"bench","model":"bench-1"}}\n' "$id"
      ;;
    *'"type":"prompt"'*)
      stream=${line#*\"message\":\"}
      stream=${stream%%\"*}
      printf '{"type":"response","id":"%s","command":"prompt","success":true,"data":{"started":true}}\n{"type":"turn_start","step":1}\n{"type":"assistant_start"}\n' "$id"
      while read -r _; do echo '{"type":"text_delta","delta":" tick"}'; done <"$1/$stream"
      printf '{"type":"turn_end","stop":"end_turn"}\n{"type":"done"}\n'
      ;;
    *)
      printf '{"type":"response","id":"%s","command":"other","success":true,"data":{}}\n' "$id"
      ;;
  esac
done
