import type { Carrier } from '../contract/index.ts'

/** The variable by which every descendant of an agent is recognised, wherever it moved in the process tree. */
export const COOKIE = 'TURNPIKE_COOKIE'

/** What every program may expect; everything else of the gateway's environment stays with the gateway. */
const MINIMAL = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'TZ']

/** Belongs to the turn that the gateway itself may run inside of: passed on, it would be taken for this agent's own. */
const STALE = /^(?:AGENT_.*|TURNPIKE_.*|TRACEPARENT|TRACESTATE|BAGGAGE)$/

/** What every process of an agent gets. */
export interface AgentVariables {
  /** The gateway's own environment. */
  host: Readonly<Record<string, string | undefined>>
  /** Names of variables of `host` that are passed on besides the minimal set; those of a turn (`AGENT_*`, trace context) never are. */
  inherit: readonly string[]
  configured: Readonly<Record<string, string>>
}

/** What one process of it gets besides. */
export interface CallVariables {
  /** Of the call. */
  env: Readonly<Record<string, string>>
  /** W3C trace context, as `TRACEPARENT`, `TRACESTATE` and `BAGGAGE`. */
  trace: Carrier
  cookie: string
}

/** The part of the environment that is the same for all processes of an agent. What is configured wins. */
export function agentEnvironment({ host, inherit, configured }: AgentVariables): Record<string, string> {
  const env: Record<string, string> = {}
  const inherited = new Set([...MINIMAL, ...inherit])
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined || STALE.test(name)) continue
    if (inherited.has(name) || name.startsWith('LC_')) env[name] = value
  }
  return Object.assign(env, configured)
}

/** The whole environment of a process: of the agent, the call, and the trace and cookie, the later ones winning. */
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
