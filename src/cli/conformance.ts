import { checkedNames, loadChecks } from '../../codecs/index.ts'
import type { Checks, Suite } from '../contract/index.ts'
import { takeOptions, UsageError } from './arguments.ts'

const OPTIONS = ['url', 'format', 'timeout', 'only', 'play'] as const
const DEFAULT_SECONDS = 10

/** A command line that makes sense. */
interface Asked {
  protocol: string
  checks: Checks
  suite: Suite
  isClient: boolean
  url?: string
  command: readonly string[]
  format: 'text' | 'json'
  timeoutMs: number
  only?: string
  /** Internal: this process plays the agent, and this is the folder for what it notes. */
  play?: string
}

/**
 * `turnpike conformance PROTOCOL`: tests somebody else's agent or client and prints a line for every rule. Exit code: 0
 * when no rule is broken, 1 when one is, 2 for wrong usage, 3 when the program could not be run.
 */
export async function conformanceCommand(args: string[]): Promise<number> {
  let asked: Asked
  try {
    asked = await read(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`turnpike conformance: ${error.message}\n`)
    return 2
  }
  const { playStdio, testAgent, testClient, countsOf, jsonReport, textReport } = await import('../conformance/index.ts')
  const { suite, command, timeoutMs, only, format, url, isClient, protocol } = asked
  if (asked.play !== undefined) return playStdio(suite, asked.play, command)
  const [program = '', ...own] = command
  const common = { suite, timeoutMs, hostEnv: process.env, cwd: process.cwd(), ...(only !== undefined && { only }) }
  const results = isClient
    ? await testClient({
        ...common,
        ...(asked.checks.program !== undefined && { program: asked.checks.program }),
        command: [program, ...own],
        standIn: standIn(protocol),
      })
    : await testAgent({
        ...common,
        target: url === undefined ? { command: program, args: own, cwd: process.cwd() } : { url },
      })
  if ('code' in results) {
    process.stderr.write(`turnpike conformance: the program could not be run: ${results.message}\n`)
    return 3
  }
  const report = { protocol, side: isClient ? ('client' as const) : ('agent' as const), results }
  process.stdout.write(format === 'json' ? jsonReport(report) : textReport(report))
  return countsOf(report).broken === 0 ? 0 : 1
}

/** This program again, as the stand-in of a client under test. */
function standIn(protocol: string): string[] {
  return [process.execPath, ...process.execArgv, process.argv[1]!, 'conformance', protocol, '--play']
}

async function read(args: readonly string[]): Promise<Asked> {
  const end = args.indexOf('--')
  const command = end < 0 ? [] : args.slice(end + 1)
  const { options, rest } = takeOptions(end < 0 ? args : args.slice(0, end), OPTIONS)
  const [protocol = '', ...others] = rest
  const isClient = others.includes('--client')
  const unknown = others.find((other) => other !== '--client')
  if (unknown !== undefined) throw new UsageError(`${unknown} is not known; a program's own arguments stand behind --`)
  const [name = '', wanted] = protocol.split('@')
  const checks = await loadChecks(name)
  if (!checks) throw new UsageError(`name a protocol: ${checkedNames.join(', ')}`)
  const detected = isClient || options.play !== undefined ? undefined : checks.suiteOf?.(command)
  const suiteName = wanted ?? detected ?? Object.keys(checks.suites)[0]!
  const suite = Object.hasOwn(checks.suites, suiteName) ? checks.suites[suiteName] : undefined
  if (!suite)
    throw new UsageError(
      `${name} has no @${suiteName}; it has ${Object.keys(checks.suites)
        .map((one) => `@${one}`)
        .join(', ')}`,
    )
  const { url, only, play, format = 'text' } = options
  if (format !== 'text' && format !== 'json') throw new UsageError('--format is text or json')
  checkTarget({ url, command, suite, isClient, play })
  const rules: readonly { id: string }[] = isClient ? suite.client : suite.agent
  if (only !== undefined && !rules.some(({ id }) => id === only)) {
    throw new UsageError(`there is no rule ${only}; the rules are: ${rules.map(({ id }) => id).join(', ')}`)
  }
  return {
    protocol: wanted === undefined && suiteName !== Object.keys(checks.suites)[0] ? `${name}@${suiteName}` : protocol,
    checks,
    suite,
    isClient,
    command,
    format,
    timeoutMs: milliseconds(options.timeout),
    ...(url !== undefined && { url }),
    ...(only !== undefined && { only }),
    ...(play !== undefined && { play }),
  }
}

/** Exactly one thing to test, reached in a way that the protocol has. */
function checkTarget(asked: {
  url: string | undefined
  command: readonly string[]
  suite: Suite
  isClient: boolean
  play: string | undefined
}): void {
  const { url, command, suite, isClient, play } = asked
  if (play !== undefined) return
  if (url === undefined && command.length === 0)
    throw new UsageError('name the program to test behind --, or its --url')
  if (url === undefined) return
  if (isClient || command.length > 0) throw new UsageError('--url is for an agent, and stands without a command')
  if (!suite.http) throw new UsageError('this protocol is spoken on stdio; name the program to test behind --')
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError(`--url ${url} is no http: or https: URL`)
}

function milliseconds(seconds: string | undefined): number {
  const value = Number(seconds ?? DEFAULT_SECONDS)
  if (!Number.isFinite(value) || value <= 0) throw new UsageError('--timeout is a number of seconds')
  return value * 1000
}
