import type { Carrier } from '../contract/index.ts'

/** The variable by which every descendant of an agent is recognised, wherever it moved in the process tree. */
export const COOKIE = 'TURNPIKE_COOKIE'

/** What every program may expect; everything else of the gateway's environment stays with the gateway. */
const MINIMAL = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'TZ']

/** Belongs to the turn that the gateway itself may run inside of: passed on, it would be taken for this agent's own. */
const STALE = /^(?:AGENT_.*|TURNPIKE_.*|TRACEPARENT|TRACESTATE|BAGGAGE)$/

/** Where an agent's variables come from. A later source wins over an earlier one, in the order of the members. */
export interface EnvironmentSources {
  /** The gateway's own environment. */
  host: Readonly<Record<string, string | undefined>>
  /** Names of variables of `host` that are passed on besides the minimal set; those of a turn (`AGENT_*`, trace context) never are. */
  inherit: readonly string[]
  configured: Readonly<Record<string, string>>
  call: Readonly<Record<string, string>>
  /** W3C trace context, as `TRACEPARENT`, `TRACESTATE` and `BAGGAGE`. */
  trace: Carrier
  cookie: string
}

/** The whole environment of an agent's process. */
export function agentEnvironment(sources: EnvironmentSources): Record<string, string> {
  const env: Record<string, string> = {}
  const inherited = new Set([...MINIMAL, ...sources.inherit])
  for (const [name, value] of Object.entries(sources.host)) {
    if (value === undefined || STALE.test(name)) continue
    if (inherited.has(name) || name.startsWith('LC_')) env[name] = value
  }
  Object.assign(env, sources.configured, sources.call)
  const { traceparent, tracestate, baggage } = sources.trace
  if (traceparent !== undefined) env['TRACEPARENT'] = traceparent
  if (tracestate !== undefined) env['TRACESTATE'] = tracestate
  if (baggage !== undefined) env['BAGGAGE'] = baggage
  env[COOKIE] = sources.cookie
  return env
}
