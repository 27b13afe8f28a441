/** The rules of all protocols as Markdown, for docs/conformance.md. */

import { BAD_ANSWERS } from '../../src/conformance/bad-answers.ts'
import { BAD_REQUESTS } from '../../src/conformance/bad-requests.ts'
import { type HostileRule, hostileAgentRules, hostileClientRules } from '../../src/conformance/index.ts'
import {
  type AgentRule,
  BEHAVIOURS,
  type Behaviour,
  type ClientRule,
  type Suite,
} from '../../src/conformance/kit/index.ts'
import { loadSuites, testedProtocols } from '../../src/conformance/suites.ts'

/** A heading and a table for each suite and side. */
export async function ruleList(): Promise<string> {
  const parts: string[] = []
  for (const name of testedProtocols) {
    const { suites } = (await loadSuites(name))!
    for (const [suite, { agent, client }] of Object.entries(suites)) {
      const title = Object.keys(suites).length > 1 ? `${name}@${suite}` : name
      parts.push(`### Agents: \`${title}\`\n\n${table(agent)}`)
      if (!parts.some((part) => part.includes(client[0]!.id)))
        parts.push(`### Clients: \`${title}\`\n\n${table(client)}`)
    }
  }
  return [...parts, ...(await hostileTables())].join('\n\n')
}

/** The demands under each behaviour: a table for clients and one for agents. */
async function hostileTables(): Promise<string[]> {
  const suites: [string, Suite][] = []
  for (const name of testedProtocols) {
    const own = Object.entries((await loadSuites(name))!.suites)
    for (const [suite, whole] of own) suites.push([own.length > 1 ? `${name}@${suite}` : name, whole])
  }
  return [
    hostileTable('Clients, where the agent', BAD_ANSWERS, suites, hostileClientRules),
    hostileTable('Agents, where the client', BAD_REQUESTS, suites, hostileAgentRules),
  ]
}

function hostileTable(
  title: string,
  behaviours: Readonly<Partial<Record<Behaviour, { readonly does: string }>>>,
  suites: readonly (readonly [string, Suite])[],
  rulesOf: (suite: Suite) => readonly HostileRule[],
): string {
  const columns = suites.map(([, suite]) => new Map(rulesOf(suite).map(({ name, demand }) => [name, demand])))
  const rows = BEHAVIOURS.flatMap((name) => {
    const { does } = behaviours[name] ?? {}
    return does === undefined
      ? []
      : `| ${[`\`${name}\``, does, ...columns.map((one) => one.get(name) ?? '')].join(' | ')} |`
  })
  const head = ['behaviour', title, ...suites.map(([name]) => `\`${name}\``)]
  return [
    `### ${title} misbehaves`,
    '',
    `| ${head.join(' | ')} |`,
    `|${head.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n')
}

function table(rules: readonly (AgentRule | ClientRule)[]): string {
  const rows = rules.map(
    ({ id, section, expects, lenient }) => `| \`${id}\`${lenient ? ' (warning)' : ''} | ${section} | ${expects} |`,
  )
  return ['| rule | section | a program has to |', '|---|---|---|', ...rows].join('\n')
}
