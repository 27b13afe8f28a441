import type { Carrier } from '../contract/index.ts'

/** The variable that identifies every descendant of an agent, wherever it is in the process tree. */
export const COOKIE = 'TURNPIKE_COOKIE'

/** The variables that every program may expect; no others of the gateway's environment are passed on. */
const MINIMAL = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'TZ']

/** Variables of a turn in which the gateway itself may run: an agent would take them for its own. */
const STALE = /^(?:AGENT_.*|TURNPIKE_.*|TRACEPARENT|TRACESTATE|BAGGAGE)$/

/** The variables of all processes of an agent. */
export interface AgentVariables {
  /** The gateway's own environment. */
  host: Readonly<Record<string, string | undefined>>
  /**
   * Names of variables of `host` that are passed on besides the minimal set; those of a turn (`AGENT_*`, trace context)
   * never are.
   */
  inherit: readonly string[]
  configured: Readonly<Record<string, string>>
}

/** The further variables of one process. */
export interface CallVariables {
  /** Of the call. */
  env: Readonly<Record<string, string>>
  /** W3C trace context, as `TRACEPARENT`, `TRACESTATE` and `BAGGAGE`. */
  trace: Carrier
  cookie: string
}

/** The part of the environment that is the same for all processes of an agent. Configured values win. */
export function agentEnvironment({ host, inherit, configured }: AgentVariables): Record<string, string> {
  const env: Record<string, string> = {}
  const inherited = new Set([...MINIMAL, ...inherit])
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined || STALE.test(name)) continue
    if (inherited.has(name) || name.startsWith('LC_')) env[name] = value
  }
  return Object.assign(env, configured)
}

/** The whole environment of a process: of the agent, the call, then trace and cookie; later ones win. */
export function processEnvironment(
  agent: Readonly<Record<string, string>>,
  call: CallVariables,
): Record<string, string> {
  const env: Record<string, string> = { ...agent, ...call.env }
  const { traceparent, tracestate, baggage } = call.trace
  if (traceparent !== undefined) env['TRACEPARENT'] = traceparent
  if (tracestate !== undefined) env['TRACESTATE'] = tracestate
  if (baggage !== undefined) env['BAGGAGE'] = baggage
  env[COOKIE] = call.cookie
  return env
}
