import { codecNames, standInNames } from '../../codecs/index.ts'
import { takeNothing, UsageError } from './arguments.ts'
import { USAGES } from './usage.ts'

/** An option of a command: its values, if it takes one. */
interface Option {
  name: string
  values?: readonly string[] | 'file' | 'any'
}

/** Words and options that may follow a command. */
interface Command {
  name: string
  options: readonly Option[]
  words: readonly string[]
}

/** The words that stand for a placeholder of a usage text. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'as PROTOCOL': standInNames,
  'conformance PROTOCOL': codecNames,
  'from X': codecNames,
  'to Y|model': [...codecNames, 'model'],
}

const SHELLS: Readonly<Record<string, (commands: readonly Command[]) => string>> = { bash, zsh, fish }

/** `turnpike completion bash|zsh|fish`: prints a script that completes commands, options and their values. */
export function completionCommand([shell, ...rest]: string[]): number {
  const write = shell !== undefined && Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (!write) throw new UsageError(`name a shell: ${Object.keys(SHELLS).join(', ')}`)
  takeNothing(rest)
  process.stdout.write(write(commandTable()))
  return 0
}

/** The commands, as their usage texts have them. */
export function commandTable(): Command[] {
  const commands = Object.entries(USAGES).filter(([name]) => !name.includes('-'))
  const read = commands.map(([name, usage]) => {
    const synopsis = usage.split(/\n {6}(?! )/, 1)[0]!
    return { name, options: optionsOf(synopsis), words: wordsOf(name, synopsis) }
  })
  return [...read, { name: 'help', options: [], words: commands.map(([name]) => name) }]
}

function optionsOf(synopsis: string): Option[] {
  return [...synopsis.matchAll(/--([a-z][a-z-]*)(?: ([A-Za-z|]+))?/g)].map(([, name = '', place]): Option => {
    if (place === undefined) return { name }
    const words = PLACES[`${name} ${place}`]
    if (words || !/[A-Z]/.test(place)) return { name, values: words ?? place.split('|') }
    return { name, values: place === 'FILE' ? 'file' : 'any' }
  })
}

/** The words that come right after a command: a placeholder's, or those that the text has. */
function wordsOf(name: string, synopsis: string): readonly string[] {
  const [, first = ''] = new RegExp(`turnpike ${name} ([A-Za-z]+(?: ?\\| ?[a-z]+)*)`).exec(synopsis) ?? []
  return PLACES[`${name} ${first}`] ?? (/[A-Z]/.test(first) ? [] : first.split(/ ?\| ?/).filter((word) => word !== ''))
}

const flagOf = ({ name }: Option): string => `--${name}`

/** The part of a script for one command: first what follows an option with a value, then everything else. */
function casesOf({ options, words }: Command, give: (words: readonly string[]) => string, files: string): string {
  const valued = options.filter(({ values }) => values !== undefined)
  const cases = valued.map((option) => {
    const { values } = option
    const what = values === 'file' ? `${files}; ` : values === 'any' ? '' : `${give(values ?? [])}; `
    return `      ${flagOf(option)}) ${what}return ;;\n`
  })
  const inner = cases.length > 0 ? `    case $prev in\n${cases.join('')}    esac\n` : ''
  return `${inner}    ${give([...words, ...options.map(flagOf)])}\n`
}

function bash(commands: readonly Command[]): string {
  const give = (words: readonly string[]): string => `COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$cur"))`
  const files = 'COMPREPLY=($(compgen -f -- "$cur"))'
  return `# Completion of turnpike for bash. To use it: eval "$(turnpike completion bash)"
_turnpike() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  if [ "$COMP_CWORD" = 1 ]; then
    ${give(commands.map(({ name }) => name))}
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map((command) => `  ${command.name})\n${casesOf(command, give, files)}    ;;\n`).join('')}  esac
}
complete -F _turnpike turnpike
`
}

function zsh(commands: readonly Command[]): string {
  const give = (words: readonly string[]): string => `compadd -- ${words.join(' ')}`
  return `#compdef turnpike
# Completion of turnpike for zsh. To use it: eval "$(turnpike completion zsh)"
_turnpike() {
  local prev=$words[CURRENT-1]
  if (( CURRENT == 2 )); then
    ${give(commands.map(({ name }) => name))}
    return
  fi
  case $words[2] in
${commands.map((command) => `  ${command.name})\n${casesOf(command, give, '_files')}    ;;\n`).join('')}  esac
}
compdef _turnpike turnpike
`
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ name, options, words }) => {
    const seen = `-n '__fish_seen_subcommand_from ${name}'`
    const ofOption = (option: Option): string => {
      const { values } = option
      const takes =
        values === undefined
          ? ''
          : values === 'file'
            ? ' -r -F'
            : values === 'any'
              ? ' -x'
              : ` -x -a '${values.join(' ')}'`
      return `complete -c turnpike ${seen} -l ${option.name}${takes}`
    }
    return [
      `complete -c turnpike -n __fish_use_subcommand -a ${name}`,
      ...(words.length > 0 ? [`complete -c turnpike ${seen} -a '${words.join(' ')}'`] : []),
      ...options.map(ofOption),
    ]
  })
  return `# Completion of turnpike for fish. To use it: turnpike completion fish | source
complete -c turnpike -f
${lines.join('\n')}
`
}
