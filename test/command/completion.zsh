# completion.zsh SCRIPT LINE...: what zsh itself offers for each of these lines, one a line, after a line `== LINE`. A
# shell on a terminal of its own completes them; `compadd` is watched.
zmodload zsh/zpty || exit 1
script=$1
shift
zpty shell zsh -f -i
zpty -w shell "PROMPT=; setopt nobeep noautolist noautomenu; autoload -Uz compinit; compinit -u -D; source $script"
zpty -w shell "ended() { print -r -- '<END>'; comppostfuncs=(ended) }; comppostfuncs=(ended); bindkey '^I' complete-word"
zpty -w shell 'compadd() {
  if [[ ${@[1,(i)(-|--)]} != *-[OAD]* ]]; then
    local -a hits
    builtin compadd -A hits "$@"
    print -rl -- "${(@)hits/#/<HIT>}"
  fi
  builtin compadd "$@"
}'
# In two pieces, so that the echo of the command is not what is waited for.
zpty -w shell "print '<READ''Y>'"
zpty -r shell read '*<READY>*'
for line; do
  print -r -- "== $line"
  zpty -w -n shell $'\x15'"$line"$'\t'
  zpty -r shell read '*<END>*'
  print -r -- $read | tr -d '\r' | sed -n 's/.*<HIT>//p'
done
zpty -d shell
