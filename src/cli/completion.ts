import { codecNames, standInNames } from '../../codecs/index.ts'
import { takeNothing, UsageError } from './arguments.ts'
import { USAGES } from './usage.ts'

/** An option of a command: its values, if it takes one. */
interface Option {
  name: string
  values?: readonly string[] | 'file' | 'any'
}

/** A command, and what may follow it. */
interface Command {
  name: string
  /** Its effect, in a few words. */
  about: string
  options: readonly Option[]
  words: readonly string[]
  /** Names of files may follow. */
  files: boolean
}

/** The words that stand for a placeholder of a usage text. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'as PROTOCOL': standInNames,
  'conformance PROTOCOL': codecNames,
  'from X': codecNames,
  'to Y|model': [...codecNames, 'model'],
  'from CLIENT': codecNames,
  'to AGENT': codecNames,
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
    const [synopsis = '', text = ''] = usage.split(/\n {6}(?! )/)
    const [about = ''] = /^[^.;:]+/.exec(text) ?? []
    const files = /\[FILE\]|-- COMMAND/.test(synopsis)
    return { name, about, options: optionsOf(synopsis), words: wordsOf(name, synopsis), files }
  })
  const words = commands.map(([name]) => name)
  return [...read, { name: 'help', about: 'Describes a command', options: [], words, files: false }]
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

/** A text as one word of any of these shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The script of a shell that offers words, and names of files. */
interface Offers {
  words(words: readonly string[]): string
  files: string
  /** Offers them too, after words were offered. */
  filesToo: string
}

/** The part of a script for one command: first what follows an option with a value, then everything else. */
function casesOf({ options, words, files }: Command, offers: Offers): string {
  const valued = options.filter(({ values }) => values !== undefined)
  const cases = valued.map((option) => {
    const { values } = option
    const what = values === 'file' ? `${offers.files}; ` : values === 'any' ? '' : `${offers.words(values ?? [])}; `
    return `      ${flagOf(option)}) ${what}return ;;\n`
  })
  const inner = cases.length > 0 ? `    case $prev in\n${cases.join('')}    esac\n` : ''
  return `${inner}    ${offers.words([...words, ...options.map(flagOf)])}\n${files ? `    ${offers.filesToo}\n` : ''}`
}

function branchesOf(commands: readonly Command[], offers: Offers): string {
  return commands.map((command) => `  ${command.name})\n${casesOf(command, offers)}    ;;\n`).join('')
}

function bash(commands: readonly Command[]): string {
  const offers: Offers = {
    words: (words) => `COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$cur"))`,
    files: 'COMPREPLY=($(compgen -f -- "$cur"))',
    filesToo: 'COMPREPLY+=($(compgen -f -- "$cur"))',
  }
  return `# Completion of turnpike for bash. To use it: eval "$(turnpike completion bash)"
_turnpike() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  if [ "$COMP_CWORD" = 1 ]; then
    ${offers.words(commands.map(({ name }) => name))}
    return
  fi
  case \${COMP_WORDS[1]} in
${branchesOf(commands, offers)}  esac
}
complete -F _turnpike turnpike
`
}

function zsh(commands: readonly Command[]): string {
  const offers: Offers = { words: (words) => `compadd -- ${words.join(' ')}`, files: '_files', filesToo: '_files' }
  const described = commands.map(({ name, about }) => `    ${quoted(`${name}:${about}`)}\n`)
  return `#compdef turnpike
# Completion of turnpike for zsh. To use it, after compinit: eval "$(turnpike completion zsh)"
_turnpike() {
  local prev=$words[CURRENT-1]
  local -a commands=(
${described.join('')}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${branchesOf(commands, offers)}  esac
}
compdef _turnpike turnpike
`
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ name, about, options, words, files }) => {
    const within = `complete -c turnpike -n '__turnpike_in ${name}'`
    return [
      `complete -c turnpike -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`,
      ...(words.length > 0 ? [`complete -c turnpike -n '__turnpike_after ${name}' -a '${words.join(' ')}'`] : []),
      ...options.map((option) => `${within} -l ${option.name}${valuesOf(option)}`),
      ...(files ? [`${within} -F`] : []),
    ]
  })
  return `# Completion of turnpike for fish. To use it: turnpike completion fish | source
function __turnpike_in
  set -l words (commandline -opc)
  test "$words[2]" = $argv[1]
end
function __turnpike_after
  test (count (commandline -opc)) = 2; and __turnpike_in $argv[1]
end
complete -c turnpike -f
${lines.join('\n')}
`
}

/** The values of an option, as fish has them. */
function valuesOf({ values }: Option): string {
  if (values === undefined) return ''
  if (values === 'file') return ' -r -F'
  return values === 'any' ? ' -x' : ` -x -a '${values.join(' ')}'`
}
