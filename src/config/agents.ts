import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { Limits } from '../contract/index.ts'
import { MAX_MS } from './duration.ts'
import { inheritedNames } from './environment.ts'
import type { Path } from './errors.ts'
import type { Environment } from './expand.ts'
import { overlayLimits } from './limits.ts'
import { refuseNestedReferences } from './nested-references.ts'
import { resolveOptions } from './options.ts'
import type { Profile } from './profile.ts'
import { findProtocol, type Protocol } from './protocol.ts'
import type { AgentEntry } from './schema.ts'
import type { Source } from './source.ts'
import type { AgentConfig, CodecInfo, CodecInfos } from './types.ts'

const PROCESS_KEYS = [
  'command',
  'args',
  'cwd',
  'workspaces',
  'clientMcpServers',
  'env',
  'inherit',
  'profile',
  'wrap',
  'resources',
] as const
const HTTP_KEYS = ['url', 'headers'] as const

/** The context for resolving an agent. */
export interface AgentContext {
  source: Source
  /** Absolute folder of the file. */
  folder: string
  codecs: CodecInfos
  /** The gateway's environment, and the names of those variables that no agent inherits. */
  env: Environment
  withheld: readonly string[]
  /** The limits of the whole gateway. */
  limits: Limits
  warnings: string[]
  /** Reads the profile at an absolute path, which messages show as `file`. */
  readProfile(path: string, file: string, codec: CodecInfo): Profile
}

/** The agent of a valid entry, or undefined when it has another problem, which is reported. */
export function resolveAgent(context: AgentContext, name: string, entry: AgentEntry): AgentConfig | undefined {
  const { source, folder } = context
  const path = ['agents', name]
  const protocol = findProtocol(entry.protocol, context.codecs, source, [...path, 'protocol'])
  if (!protocol || !checkReach(context, path, entry, protocol)) return undefined
  if (!checkSharing(context, path, entry, protocol)) return undefined
  const profile = entry.profile === undefined ? undefined : loadProfile(context, path, entry.profile, protocol)
  if (entry.profile !== undefined && !profile) return undefined
  refuseNestedReferences(source, path, profile)
  const written = writtenOptions(entry, protocol, profile)
  const options = resolveOptions(source, path, written, protocol, profile)
  const limits = overlayLimits(patientLimits(context, protocol), ownLimits(protocol, written, options))
  const common = {
    name,
    protocol: protocol.name,
    dialect: protocol.dialect,
    pool: entry.pool,
    limits: overlayLimits(limits, entry.limits),
    options,
    restore: entry.restore,
    breaker: entry.breaker,
    ...(entry.health && { health: entry.health }),
    ...(entry.placement && { placement: entry.placement }),
  }
  if (entry.url === undefined) {
    const globs = entry.inherit ?? (profile && protocol.codec.profile?.inherits(written)) ?? []
    const inherit = inheritedNames(context.env, globs, context.withheld)
    return { ...common, ...resolveProcess(entry, folder, profile), inherit }
  }
  const { url, headers } = entry
  return { ...common, kind: 'http', url, headers, cwd: folder, env: {}, inherit: [], folder }
}

/** The limits of an agent. For a silent agent only the whole turn is limited, unless the file limits silence. */
function patientLimits({ source, limits }: AgentContext, { codec }: Protocol): Limits {
  if (!codec.silent) return limits
  const patient = (key: 'firstEvent' | 'idle'): number => (source.has(['limits', key]) ? limits[key] : MAX_MS)
  return { ...limits, firstEvent: patient('firstEvent'), idle: patient('idle') }
}

/** The limits that the protocol's own keys set, cut to the range of timers. */
function ownLimits({ codec }: Protocol, written: Readonly<Record<string, unknown>>, options: unknown): Partial<Limits> {
  const own = Object.entries(codec.profile?.limits(written, options) ?? {})
  return Object.fromEntries(own.map(([key, value]) => [key, Math.min(Math.round(value), MAX_MS)]))
}

/** Either a process or an HTTP agent, with the keys of its kind only. */
function checkReach({ source, codecs }: AgentContext, path: Path, entry: AgentEntry, of: Protocol): boolean {
  const { codec } = of
  const hasProfile = entry.profile !== undefined
  if (hasProfile && !codec.profile) {
    const owners = Object.keys(codecs).filter((name) => codecs[name]!.profile)
    source.report([...path, 'profile'], `belongs to an agent with protocol ${owners.join(' or ')}`, undefined, 'key')
    return false
  }
  const isProcess = entry.command !== undefined || hasProfile
  if (isProcess === (entry.url !== undefined)) {
    const what = isProcess ? 'has both a command and a url' : 'has neither a command nor a url'
    const profileToo = codec.profile ? ' (or profile)' : ''
    source.report(path, what, `give command${profileToo} for a process, or url for an HTTP agent`, 'key')
    return false
  }
  if (codec.servers === isProcess) {
    const [key, what, instead] = isProcess ? ['command', 'servers', 'url'] : ['url', 'programs', 'command']
    source.report([...path, key], `agents of ${of.name} are ${what}`, `give ${instead} instead`, 'key')
    return false
  }
  const [foreign, kind] = isProcess ? [HTTP_KEYS, 'an HTTP agent (url)'] : [PROCESS_KEYS, 'a process agent (command)']
  const misplaced = foreign.filter((key) => entry[key] !== undefined)
  for (const key of misplaced) source.report([...path, key], `belongs to ${kind}`, 'remove it', 'key')
  return misplaced.length === 0
}

/** Processes are only shared where the protocol tells the sessions of one apart. */
function checkSharing({ source }: AgentContext, path: Path, { pool }: AgentEntry, of: Protocol): boolean {
  if (pool.sessions === undefined || of.codec.multiplexed?.includes(of.dialect)) return true
  const key = [...path, 'pool', 'sessions']
  source.report(key, `agents of ${of.name} serve one session in a process`, 'remove it', 'key')
  return false
}

function loadProfile(context: AgentContext, path: Path, given: string, protocol: Protocol): Profile | undefined {
  const { source, folder } = context
  const shown = source.written([...path, 'profile'])
  const file = isAbsolute(given) ? shown : join(dirname(source.file), shown)
  try {
    const profile = context.readProfile(resolve(folder, given), file, protocol.codec)
    context.warnings.push(...profile.warnings)
    source.problems.push(...profile.source.problems)
    if (profile.source.problems.length > 0) return undefined
    if (profile.command !== undefined || source.has([...path, 'command'])) return profile
    source.report([...path, 'profile'], 'this profile has no command', 'add one to it, or set command next to profile')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    source.report(
      [...path, 'profile'],
      `cannot be read (${why})`,
      'give the path of a profile, relative to the folder of this file',
    )
  }
  return undefined
}

type ProcessPart = Pick<
  AgentConfig,
  'kind' | 'command' | 'args' | 'cwd' | 'workspaces' | 'clientMcpServers' | 'env' | 'folder' | 'wrap' | 'resources'
>

/** The entry's own values override those of its profile. */
function resolveProcess(entry: AgentEntry, folder: string, profile: Profile | undefined): ProcessPart {
  const args = entry.args ?? profile?.args
  const home = profile ? resolve(folder, entry.profile!, '..') : folder
  return {
    kind: 'process',
    command: entry.command === undefined ? profile?.command : resolveCommand(entry.command, folder, args),
    args,
    cwd: entry.cwd === undefined ? resolveProfileFolder(profile?.cwd, home) : resolve(folder, entry.cwd),
    env: { ...profile?.env, ...entry.env },
    folder: home,
    ...(entry.workspaces && { workspaces: entry.workspaces.map((path) => resolve(folder, path)) }),
    ...(entry.clientMcpServers && { clientMcpServers: true }),
    ...(entry.wrap && { wrap: wrapped(entry.wrap, folder) }),
    ...(entry.resources && { resources: entry.resources }),
  }
}

function wrapped([program, ...args]: readonly string[], folder: string): string[] {
  return [resolveCommand(program!, folder, args), ...args]
}

/**
 * A program with a slash is a file; without one it is searched in PATH. Without `args` the command may contain them and
 * its codec splits it at white space, so a folder with white space must not be added to it.
 */
function resolveCommand(command: string, folder: string, args: readonly string[] | undefined): string {
  const program = args === undefined ? command.split(/\s/, 1)[0]! : command
  if (!program.includes('/') || isAbsolute(program)) return command
  return args === undefined && /\s/.test(folder) ? command : join(folder, program) + command.slice(program.length)
}

/** True for a folder that begins with a placeholder or a variable, which only the codec resolves. */
function resolveProfileFolder(cwd: string | undefined, home: string): string {
  if (cwd === undefined) return home
  return /^(\$\{|\{\{)/.test(cwd) ? cwd : resolve(home, cwd)
}

/** The codec's own keys, from the entry or else from the profile; of a profile, the codec is told to expand it. */
function writtenOptions(entry: AgentEntry, { codec }: Protocol, profile: Profile | undefined): Record<string, unknown> {
  const own = codec.options.keys.filter((key) => entry[key] !== undefined).map((key) => [key, entry[key]])
  const expand = profile !== undefined && codec.options.keys.includes('expand') ? { expand: true } : {}
  return { ...profile?.options, ...expand, ...Object.fromEntries(own) }
}
