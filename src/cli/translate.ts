import { readFileSync } from 'node:fs'
import { codecNames, loadCodec } from '../../codecs/index.ts'
import type { AnyCodec } from '../contract/index.ts'
import { type Party, plainWire, RecordingError, readRecording, translate, type Wire } from '../translate/index.ts'
import { takeOptions, UsageError } from './arguments.ts'

/** The validated arguments of `translate`. */
interface TranslateArguments {
  from: string
  to: string
  file: string | undefined
  client: boolean
  recorded: boolean
  strict: boolean
  /** `--set key=value`: a codec's own option. */
  set: Readonly<Record<string, unknown>>
  argv: readonly string[] | undefined
}

/** The name of the target that is not a protocol: the values of the canonical model. */
const MODEL = 'model'

/**
 * `turnpike translate`: translates the output of an agent (with `--client`, of its client) from one protocol to
 * another, or with `--to model` to the values of the canonical model. stdout is the other protocol only; losses are
 * JSON lines on stderr. Exit codes: 0, 1 (something was not understood, or with `--strict` lost), 2 (command line), 3
 * (the file cannot be read).
 */
export async function translateCommand(args: string[]): Promise<number> {
  try {
    const asked = readArguments(args)
    const to = asked.to === MODEL ? 'canonical' : await partyOf(asked.to, asked)
    const from = await partyOf(asked.from, asked)
    checkHalves(asked, from, to)
    checkSettings(asked, [from, to])
    const wires = wiresOf(asked, readText(asked.file))
    const { argv } = asked
    const of = asked.client ? 'client' : 'agent'
    const made = translate(wires, { from, to, of, ...(argv && { argv }) })
    process.stdout.write(made.out)
    for (const loss of made.losses) process.stderr.write(`${JSON.stringify(loss)}\n`)
    for (const fault of made.faults) process.stderr.write(`${JSON.stringify({ fault })}\n`)
    const unread = made.faults.length > 0 || made.losses.some(({ kind }) => kind === 'unparsed')
    return unread || (asked.strict && made.losses.length > 0) ? 1 : 0
  } catch (error) {
    if (!(error instanceof RecordingError || error instanceof UnreadableError)) throw error
    process.stderr.write(`turnpike translate: ${error.message}\n`)
    return 3
  }
}

/** A file that cannot be read; the exit code is 3. */
class UnreadableError extends Error {}

function readArguments(args: readonly string[]): TranslateArguments {
  const cut = args.indexOf('--')
  const own = cut < 0 ? args : args.slice(0, cut)
  const { settings, others } = takeSettings(own)
  const { options, rest } = takeOptions(others, ['from', 'to'])
  const flags = new Set(rest.filter((arg) => arg.startsWith('--')))
  const files = rest.filter((arg) => !arg.startsWith('--'))
  const unknown = [...flags].find((flag) => !['--client', '--recorded', '--strict'].includes(flag))
  if (unknown !== undefined) throw new UsageError(`unknown option "${unknown}"`)
  if (files.length > 1) throw new UsageError(`give one file, not ${files.length}`)
  const { from, to } = options
  if (from === undefined || to === undefined) throw new UsageError('name both protocols: --from and --to')
  const [file] = files
  return {
    from,
    to,
    file: file === '-' ? undefined : file,
    client: flags.has('--client'),
    recorded: flags.has('--recorded'),
    strict: flags.has('--strict'),
    set: Object.assign({}, ...settings.map(readSettings)),
    argv: cut < 0 ? undefined : args.slice(cut + 1),
  }
}

/** The values of every `--set`, which may be given several times, and the other arguments. */
function takeSettings(args: readonly string[]): { settings: readonly string[]; others: readonly string[] } {
  const settings: string[] = []
  const others: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at]!
    if (argument === '--set') {
      const value = args[at + 1]
      if (value === undefined) throw new UsageError('--set needs a value')
      settings.push(value)
      at += 1
    } else if (argument.startsWith('--set=')) settings.push(argument.slice('--set='.length))
    else others.push(argument)
  }
  return { settings, others }
}

/** `key=value` pairs, separated by commas; a value that is JSON is parsed. */
function readSettings(text: string): Record<string, unknown> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--set takes key=value, not "${pair}"`)
      const value = pair.slice(at + 1)
      return [pair.slice(0, at), settingOf(value)]
    }),
  )
}

function settingOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The codec and dialect that a name such as `zot` or `agentproc@0.4` means, with its options. */
async function partyOf(text: string, { set }: TranslateArguments): Promise<Party> {
  const [name = '', wanted] = text.split('@', 2)
  const codec = await loadCodec(name)
  if (!codec) throw new UsageError(`unknown protocol "${name}"; known: ${codecNames.join(', ')}`)
  const names = Object.keys(codec.dialects)
  const dialect = wanted ?? names[0]!
  if (!names.includes(dialect)) {
    throw new UsageError(`${name} has no dialect "${dialect}"; it has ${names.join(', ')}`)
  }
  return { codec, dialect, options: optionsOf(codec, set) }
}

function optionsOf(codec: AnyCodec, set: Readonly<Record<string, unknown>>): unknown {
  const own = Object.fromEntries(Object.entries(set).filter(([key]) => codec.options.keys.includes(key)))
  const checked = codec.options.schema['~standard'].validate(own)
  if (checked instanceof Promise || checked.issues) {
    const issue = checked instanceof Promise ? undefined : checked.issues?.[0]
    throw new UsageError(`--set does not fit ${codec.name}: ${issue?.message ?? 'it cannot be checked'}`)
  }
  return checked.value
}

/** Checks that the dialects have the needed sides: some have no agents, or no clients. */
function checkHalves({ from, to, client }: TranslateArguments, source: Party, target: Party | 'canonical'): void {
  const has = ({ codec, dialect }: Party, half: 'front' | 'back'): boolean =>
    codec.dialects[dialect]![half] !== undefined
  if (!has(source, client ? 'front' : 'back')) {
    throw new UsageError(`${from} has no ${client ? 'clients' : 'agents'} to read from`)
  }
  if (target === 'canonical') return
  for (const half of ['front', 'back'] as const) {
    if (!has(target, half)) throw new UsageError(`${to} cannot be written: it has no ${half} half`)
  }
}

/** Refuses a key that neither side has, because it would have no effect. */
function checkSettings({ set, from, to }: TranslateArguments, parties: readonly (Party | 'canonical')[]): void {
  const known = parties.flatMap((party) => (party === 'canonical' ? [] : party.codec.options.keys))
  const unknown = Object.keys(set).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const there = known.length === 0 ? 'they have none' : `they have ${[...new Set(known)].join(', ')}`
  throw new UsageError(`neither ${from} nor ${to} has an option "${unknown}"; ${there}`)
}

function readText(file: string | undefined): string {
  try {
    return readFileSync(file ?? 0, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UnreadableError(`${file ?? 'standard input'} cannot be read: ${why}`)
  }
}

function wiresOf({ recorded, client }: TranslateArguments, text: string): readonly Wire[] {
  return recorded ? readRecording(text) : [plainWire(client ? 'client' : 'agent', text)]
}
