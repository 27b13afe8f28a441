#!/bin/sh
# Prints what is in no protocol, then leaves as if all were well.
read -r _line
printf '<html>\n{"type":\n]]\n\000\377\n'
