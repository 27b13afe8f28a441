import type { AgentRule, ClientRule } from './suite.ts'

/** The headings of a protocol's text by their numbers. */
export type Sections = Readonly<Record<string, string>>

/** A rule without what its key says: the number of its section and its name. `on` is every scenario when absent. */
export type AgentRow = Omit<AgentRule, 'id' | 'section' | 'on'> & Partial<Pick<AgentRule, 'on'>>
export type ClientRow = Omit<ClientRule, 'id' | 'section'>

/** The key of a row: `<number of its section>.<name>`. */
type Key<S extends Sections> = `${keyof S & string}.${string}`

/** Rules for agents, each under `<section>.<name>`, which `needs` names too. Their ids begin with the protocol's name. */
export function rulesForAgents<S extends Sections>(
  protocol: string,
  sections: S,
  rows: Readonly<Record<Key<S>, AgentRow>>,
): readonly AgentRule[] {
  return inOrder(
    Object.entries<AgentRow>(rows).map(([key, row]) => ({ on: 'all', ...placed(protocol, sections, key, row) })),
  )
}

/** The same for clients, whose ids have `client` after the protocol's name. */
export function rulesForClients<S extends Sections>(
  protocol: string,
  sections: S,
  rows: Readonly<Record<Key<S>, ClientRow>>,
): readonly ClientRule[] {
  return inOrder(Object.entries<ClientRow>(rows).map(([key, row]) => placed(`${protocol}.client`, sections, key, row)))
}

/** The rules in their order, but each after those that it needs: these are judged before it. */
function inOrder<R extends ClientRule | AgentRule>(rules: readonly R[]): R[] {
  const ordered = new Set<R>()
  const add = (rule: R): void => {
    for (const one of rules) if (rule.needs?.includes(one.id) && !ordered.has(one)) add(one)
    ordered.add(rule)
  }
  for (const rule of rules) add(rule)
  return [...ordered]
}

function placed<R extends ClientRow | AgentRow>(prefix: string, sections: Sections, key: string, row: R) {
  const number = key.slice(0, key.lastIndexOf('.'))
  return {
    ...row,
    id: `${prefix}.${key}`,
    section: `${number} ${sections[number]}`,
    ...(row.needs && { needs: row.needs.map((name) => `${prefix}.${name}`) }),
  }
}
