import type { Behaviour, ProtocolSuites, Result, Suite } from '../conformance/index.ts'
import type { Fault } from '../model/index.ts'
import { takeOptions, UsageError } from './arguments.ts'
import { Progress } from './progress.ts'

const OPTIONS = ['url', 'model', 'format', 'timeout', 'only', 'play', 'behaviour'] as const
const FLAGS: readonly string[] = ['--client', '--hostile']
const DEFAULT_SECONDS = 10

/** The validated arguments. */
interface ConformanceArguments {
  protocol: string
  suites: ProtocolSuites
  suite: Suite
  isClient: boolean
  isHostile: boolean
  url?: string
  /** The model that a server of models is asked for. */
  model?: string
  command: readonly string[]
  format: 'text' | 'json'
  timeoutMs: number
  only?: string
  /** Internal: this process plays the agent; the folder for its record. */
  play?: string
  /** Internal: the player misbehaves in this way. */
  behaviour?: Behaviour
}

/**
 * `turnpike conformance PROTOCOL`: tests an agent or a client and prints a line for every rule. Exit code: 0 when no
 * rule is broken, 1 when one is, 2 for wrong usage, 3 when the program could not be run.
 */
export async function conformanceCommand(args: string[]): Promise<number> {
  const parsed = await read(args)
  const { countsOf, jsonReport, misbehaving, playStdio, textReport } = await import('../conformance/index.ts')
  const { suite, command, behaviour, format, isClient, protocol } = parsed
  if (parsed.play !== undefined)
    return playStdio(behaviour === undefined ? suite : misbehaving(suite, behaviour), parsed.play, command)
  const progress = new Progress()
  const results = await (isClient ? clientResults(parsed, progress) : agentResults(parsed, progress))
  progress.end()
  if ('code' in results) {
    process.stderr.write(`turnpike conformance: the program could not be run: ${results.message}\n`)
    return 3
  }
  const report = { protocol, side: isClient ? ('client' as const) : ('agent' as const), results }
  process.stdout.write(format === 'json' ? jsonReport(report) : textReport(report))
  return countsOf(report).broken === 0 ? 0 : 1
}

async function agentResults(parsed: ConformanceArguments, { step }: Progress): Promise<readonly Result[] | Fault> {
  const { MODEL, testAgent, testHostileAgent } = await import('../conformance/index.ts')
  const { suite, command, timeoutMs, only, url, model, isHostile } = parsed
  const [program = '', ...args] = command
  const target = url === undefined ? { command: program, args, cwd: process.cwd() } : { url }
  const values: Record<string, string> = model === undefined ? {} : { [MODEL]: model }
  const test = { suite, timeoutMs, hostEnv: process.env, target, values, progress: step }
  if (isHostile) return testHostileAgent({ ...test, ...(only !== undefined && { only: await behaviourOf(only) }) })
  return testAgent({ ...test, ...(only !== undefined && { only }) })
}

async function clientResults(parsed: ConformanceArguments, { step }: Progress): Promise<readonly Result[] | Fault> {
  const { testClient, testHostileClient } = await import('../conformance/index.ts')
  const { suite, command, timeoutMs, only, isHostile, protocol, suites } = parsed
  const [program = '', ...args] = command
  const test = {
    suite,
    timeoutMs,
    hostEnv: process.env,
    cwd: process.cwd(),
    ...(suites.program !== undefined && { program: suites.program }),
    command: [program, ...args] as const,
  }
  if (!isHostile) return testClient({ ...test, standIn: standIn(protocol), ...(only !== undefined && { only }) })
  return testHostileClient({
    ...test,
    standIn: (name) => standIn(protocol, name),
    progress: step,
    ...(only !== undefined && { only: await behaviourOf(only) }),
  })
}

/** The command of this program as the stand-in of a client under test, with a misbehaviour if one is named. */
function standIn(protocol: string, behaviour?: Behaviour): string[] {
  const own = [process.execPath, ...process.execArgv, process.argv[1]!, 'conformance', protocol]
  return [...own, ...(behaviour === undefined ? [] : ['--behaviour', behaviour]), '--play']
}

/** A behaviour by its name, or by the name of its rule. */
async function behaviourOf(name: string): Promise<Behaviour> {
  const { BEHAVIOURS } = await import('../conformance/index.ts')
  return BEHAVIOURS.find((one) => name === one || name.endsWith(`.hostile.${one}`))!
}

async function read(args: readonly string[]): Promise<ConformanceArguments> {
  const { loadSuites, testedProtocols } = await import('../conformance/index.ts')
  const end = args.indexOf('--')
  const command = end < 0 ? [] : args.slice(end + 1)
  const { options, rest } = takeOptions(end < 0 ? args : args.slice(0, end), OPTIONS)
  const [protocol = '', ...others] = rest
  const isClient = others.includes('--client')
  const isHostile = others.includes('--hostile')
  const unknown = others.find((other) => !FLAGS.includes(other))
  if (unknown !== undefined) throw new UsageError(`unknown option ${unknown}; put the program's own arguments after --`)
  const [name = '', wanted] = protocol.split('@')
  const suites = await loadSuites(name)
  if (!suites) throw new UsageError(`name a protocol: ${testedProtocols.join(', ')}`)
  const detected = isClient || options.play !== undefined ? undefined : suites.suiteOf?.(command)
  const suiteName = wanted ?? detected ?? Object.keys(suites.suites)[0]!
  const suite = Object.hasOwn(suites.suites, suiteName) ? suites.suites[suiteName] : undefined
  if (!suite)
    throw new UsageError(
      `${name} has no @${suiteName}; it has ${Object.keys(suites.suites)
        .map((one) => `@${one}`)
        .join(', ')}`,
    )
  const { url, model, only, play, behaviour, format = 'text' } = options
  if (format !== 'text' && format !== 'json') throw new UsageError('--format must be text or json')
  checkTarget({ url, command, suite, isClient, play })
  if (only !== undefined) await checkRule(only, suite, isClient, isHostile)
  return {
    protocol: wanted === undefined && suiteName !== Object.keys(suites.suites)[0] ? `${name}@${suiteName}` : protocol,
    suites,
    suite,
    isClient,
    isHostile,
    command,
    format,
    timeoutMs: milliseconds(options.timeout),
    ...(url !== undefined && { url }),
    ...(model !== undefined && { model }),
    ...(only !== undefined && { only }),
    ...(play !== undefined && { play }),
    ...(behaviour !== undefined && { behaviour: await behaviourOf(behaviour) }),
  }
}

/** The id of an existing rule; for hostile rules the name of the behaviour is enough. */
async function checkRule(only: string, suite: Suite, isClient: boolean, isHostile: boolean): Promise<void> {
  const { hostileAgentRules, hostileClientRules } = await import('../conformance/index.ts')
  const hostile = isClient ? hostileClientRules(suite) : hostileAgentRules(suite)
  const own: readonly { id: string }[] = isClient ? suite.client : suite.agent
  const names = isHostile ? hostile.map(({ name }) => name) : own.map(({ id }) => id)
  const known = isHostile ? [...names, ...hostile.map(({ id }) => id)] : names
  if (!known.includes(only)) throw new UsageError(`there is no rule ${only}; the rules are: ${names.join(', ')}`)
}

/** Checks that there is exactly one program to test, over a transport of the protocol. */
function checkTarget(parsed: {
  url: string | undefined
  command: readonly string[]
  suite: Suite
  isClient: boolean
  play: string | undefined
}): void {
  const { url, command, suite, isClient, play } = parsed
  if (play !== undefined) return
  if (url === undefined && command.length === 0) throw new UsageError('name the program to test after --, or its --url')
  if (url === undefined && !isClient && suite.onlyHttp)
    throw new UsageError('agents of this protocol are servers; name its --url')
  if (url === undefined) return
  if (isClient || command.length > 0) throw new UsageError('--url is for an agent and excludes a command')
  if (!suite.http) throw new UsageError('this protocol works on stdio; name the program to test after --')
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError(`--url ${url} is not an http: or https: URL`)
}

function milliseconds(seconds: string | undefined): number {
  const value = Number(seconds ?? DEFAULT_SECONDS)
  if (!Number.isFinite(value) || value <= 0) throw new UsageError('--timeout must be a positive number of seconds')
  return value * 1000
}
