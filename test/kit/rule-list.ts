/** The rules of all protocols as Markdown, for docs/conformance.md. */
import { checkedNames, loadChecks } from '../../codecs/index.ts'
import type { AgentRule, ClientRule } from '../../src/contract/index.ts'

/** A heading and a table for each suite and side. */
export async function ruleList(): Promise<string> {
  const parts: string[] = []
  for (const name of checkedNames) {
    const { suites } = (await loadChecks(name))!
    for (const [suite, { agent, client }] of Object.entries(suites)) {
      const title = Object.keys(suites).length > 1 ? `${name}@${suite}` : name
      parts.push(`### Agents: \`${title}\`\n\n${table(agent)}`)
      if (!parts.some((part) => part.includes(client[0]!.id)))
        parts.push(`### Clients: \`${title}\`\n\n${table(client)}`)
    }
  }
  return parts.join('\n\n')
}

function table(rules: readonly (AgentRule | ClientRule)[]): string {
  const rows = rules.map(
    ({ id, section, expects, lenient }) => `| \`${id}\`${lenient ? ' (warning)' : ''} | ${section} | ${expects} |`,
  )
  return ['| rule | section | a program has to |', '|---|---|---|', ...rows].join('\n')
}
