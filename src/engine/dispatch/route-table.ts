import type { Route } from '../../contract/index.ts'
import { compileGlob, type Glob } from '../../model/index.ts'
import type { EngineSettings } from '../common/index.ts'

/** The facts that conditions of routes test; absent where a request does not have them. */
export type Facts = Readonly<Record<keyof Route['when'], string | undefined>>

/** A route with its conditions, all of which must hold. */
interface Row {
  route: Route
  conditions: readonly { fact: keyof Facts; glob: Glob }[]
}

/** The routes of some settings, ready to be tried. */
export interface RouteTable {
  /** The first route whose conditions hold. */
  match(facts: Facts): Route | undefined
  /** The route of an agent that no route leads to. */
  plain(agent: string): Route
}

const PLAIN: Omit<Route, 'agent'> = {
  when: {},
  fallback: [],
  approvals: 'deny',
  loss: 'report',
  busy: 'queue',
  history: 'resume',
  journal: 'full',
  secrets: 'keep',
}

const OF_SETTINGS = new WeakMap<EngineSettings, RouteTable>()

/** The route table of these settings, made once for all requests. */
export function routeTableOf(settings: EngineSettings): RouteTable {
  const known = OF_SETTINGS.get(settings)
  if (known) return known
  const made = compile(settings)
  OF_SETTINGS.set(settings, made)
  return made
}

function compile({ routes, agents }: EngineSettings): RouteTable {
  const rows = routes.map(rowOf)
  const plain = new Map([...agents.keys()].map((agent) => [agent, { ...PLAIN, agent }]))
  return {
    match: (facts) =>
      rows.find(({ conditions }) => conditions.every(({ fact, glob }) => holds(glob, fact, facts)))?.route,
    plain: (agent) => plain.get(agent)!,
  }
}

function rowOf(route: Route): Row {
  const conditions = Object.entries(route.when) as [keyof Facts, string][]
  return { route, conditions: conditions.map(([fact, pattern]) => ({ fact, glob: compileGlob(pattern) })) }
}

/** An absent value matches nothing. */
function holds(glob: Glob, fact: keyof Facts, facts: Facts): boolean {
  const value = facts[fact]
  if (value === undefined) return false
  // `agentproc` matches its front in every dialect.
  return glob(value) || (fact === 'front' && glob(value.split('@')[0]!))
}
