import type { Carriage } from '../engine/index.ts'
import { itemsOf, type Pair } from './pairs.ts'
import { TOPICS, type Topic } from './topics.ts'

/** A table: its head, and its rows; the first cell of a row names it. */
interface Table {
  head: readonly string[]
  rows: readonly (readonly string[])[]
}

type Format = 'text' | 'markdown'

const LEGEND =
  'kept: arrives as it was said, or the gateway itself does it (served). weakened: arrives with less. ' +
  'lost: does not arrive, and is reported. -: the protocol of the side that would send it does not have it.'

const SUMMARY = 'Clients (rows) with agents (columns): how many things are kept / weakened / lost.'

/** The pairs as one JSON document: `{"pairs": [{client, agent, counts, topics, items}]}`. */
export function matrixJson(pairs: readonly Pair[]): string {
  return `${JSON.stringify({ pairs }, undefined, 2)}\n`
}

/** The matrix as text: the summary, then for every client its topics, then all items that are weakened or lost. */
export function matrixText(pairs: readonly Pair[], format: Format): string {
  const clients = [...new Set(pairs.map(({ client }) => client))]
  const parts = [summary(pairs, format), LEGEND]
  for (const client of clients) {
    const own = pairs.filter((pair) => pair.client === client)
    parts.push(heading(`${client} clients`, format), table(topics(own), format))
    for (const pair of own) parts.push(...details(pair, format))
  }
  return `${parts.join('\n\n')}\n`
}

/** The summary alone: one row for each client, one column for each agent. */
export function summary(pairs: readonly Pair[], format: Format): string {
  const agents = [...new Set(pairs.map(({ agent }) => agent))]
  const clients = [...new Set(pairs.map(({ client }) => client))]
  const rows = clients.map((client) => [client, ...pairs.filter((pair) => pair.client === client).map(counts)])
  return `${SUMMARY}\n\n${table({ head: ['', ...agents], rows }, format)}`
}

function counts({ counts: { kept, served, weakened, lost } }: Pair): string {
  return `${kept + served} / ${weakened} / ${lost}`
}

function topics(pairs: readonly Pair[]): Table {
  const rows = (Object.keys(TOPICS) as Topic[]).map((topic) => [
    topic,
    ...pairs.map((pair) => word(pair.topics[topic])),
  ])
  return { head: ['', ...pairs.map(({ agent }) => agent)], rows }
}

function word(way: Carriage): string {
  return way === 'absent' ? '-' : way
}

/** Every item that is weakened or lost, on a line each. */
function details(pair: Pair, format: Format): string[] {
  const lines = (['weakened', 'lost'] as const).flatMap((way) => {
    const items = itemsOf(pair, way)
    if (items.length === 0) return []
    const named = format === 'markdown' ? items.map((item) => `\`${item}\``) : items
    return `${format === 'markdown' ? '- ' : '  '}${way}: ${named.join(', ')}`
  })
  return lines.length === 0
    ? []
    : [`${pair.client} → ${pair.agent}\n${format === 'markdown' ? '\n' : ''}${lines.join('\n')}`]
}

function heading(text: string, format: Format): string {
  return format === 'markdown' ? `### ${text}` : `${text}\n${'='.repeat(text.length)}`
}

function table({ head, rows }: Table, format: Format): string {
  if (format === 'markdown') {
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
    return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
  }
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at]!.length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(line).join('\n')
}
