/** The dashboard, the alerts and the page about metrics say what the code does. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { INSTRUMENTS } from '../../observability/instruments.ts'
import type { Instrument } from '../../observability/meters.ts'
import { prometheusName } from '../../observability/prometheus.ts'
import { askHttp } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, ROOT } from '../kit/gateway.ts'
import { type CountedGateway, readSamples, startCounted } from './scraped.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const OWN = join(import.meta.dirname, 'agents')
const ALERTS = join(ROOT, 'deploy/prometheus/alerts.yaml')
const ALL: readonly Instrument[] = Object.values(INSTRUMENTS)
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Everything called `expr` in a document, wherever it is. */
function expressions(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(expressions)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'expr' && typeof inner === 'string' ? [inner] : expressions(inner),
  )
}

/** The selectors and the groupings of an expression of PromQL: what may hold labels. */
const LABELLED = /\{[^}]*\}|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g
const WORD = /\b[a-z][a-z0-9_]*_[a-z0-9_]+\b/g
/** Functions of PromQL whose names look like a metric's. */
const FUNCTIONS = new Set(['histogram_quantile', 'label_values'])

function metricsIn(expression: string): string[] {
  const bare = expression.replace(LABELLED, '')
  return (bare.match(WORD) ?? []).filter((word) => !FUNCTIONS.has(word))
}

function labelsIn(expression: string): string[] {
  return (expression.match(LABELLED) ?? []).flatMap((part) => part.replace(/"[^"]*"/g, '').match(WORD) ?? [])
}

const DASHBOARD: unknown = JSON.parse(read('deploy/grafana/turnpike.json'))
const RULES: unknown = parse(read('deploy/prometheus/alerts.yaml'))
const USED = { dashboard: expressions(DASHBOARD), alerts: expressions(RULES) }

const PROMTOOL = spawnSync('promtool', ['--version']).status === 0

describe('names that are used', () => {
  let counting: CountedGateway
  let text: string

  beforeAll(async () => {
    counting = await startCounted(`
default: coder
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  forgetful: { protocol: zene, command: ${process.execPath}, args: [${OWN}/forgetful.mjs, "\${TEST_FOLDER}/mark"] }
  missing: { protocol: agentproc, command: /nowhere/agent, args: [] }
`)
    for (const agent of ['coder', 'careful', 'forgetful', 'missing']) {
      await askHttp(counting.gateway.url, 'zene', { text: 'hi', session: agent, agent, id: agent })
    }
    text = await counting.text()
  })
  afterAll(() => counting.close())

  test.each(['dashboard', 'alerts'] as const)('by the %s are those of a gateway after a few turns', (what) => {
    const emitted = new Set([...readSamples(text).keys()].map((name) => name.replace(/\{.*/, '')))
    const metrics = [...new Set(USED[what].flatMap(metricsIn))]
    expect(metrics.length).toBeGreaterThan(6)
    expect(metrics.filter((name) => !emitted.has(name))).toEqual([])
  })

  test.each(['dashboard', 'alerts'] as const)('by the %s as labels are those of the metrics', (what) => {
    const known = new Set(ALL.flatMap(({ labels }) => labels.map((label) => label.replaceAll('.', '_'))))
    const labels = [...new Set(USED[what].flatMap(labelsIn))]
    expect(labels.length).toBeGreaterThan(3)
    expect(labels.filter((name) => !known.has(name))).toEqual([])
  })

  test('are not mistaken', () => {
    const expression = 'sum by (le, turnpike_link) (rate(turnpike_x_total{turnpike_note="a_b", turnpike_y=~"c"}[5m]))'
    expect([metricsIn(expression), labelsIn(expression)]).toEqual([
      ['turnpike_x_total'],
      ['turnpike_link', 'turnpike_note', 'turnpike_y'],
    ])
  })

  test('every metric that the gateway declares is at /metrics', () => {
    const declared = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
    expect(declared).toEqual(ALL.map(prometheusName))
  })

  test.skipIf(!PROMTOOL)('promtool (of the package prometheus) takes /metrics', () => {
    const { stderr, stdout, status } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect({ said: stdout + stderr, status }).toEqual({ said: '', status: 0 })
  })
})

test.skipIf(!PROMTOOL)('promtool (of the package prometheus) takes the alerts', () => {
  const { stdout, status } = spawnSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' })
  expect(status, stdout).toBe(0)
})

describe('docs/observability.md', () => {
  test('lists every metric with its name at /metrics, kind, labels and meaning, and no other', () => {
    const rows = read('docs/observability.md')
      .split('\n')
      .filter((line) => /^\| `[a-z0-9_.]+` \| `[a-z0-9_]+` \| (?:counter|updown|gauge|histogram) \|/.test(line))
    const expected = ALL.map((instrument) => {
      const { name, kind, labels, help } = instrument
      const named = labels.map((label) => `\`${label}\``).join(', ') || '—'
      return `| \`${name}\` | \`${prometheusName(instrument)}\` | ${kind} | ${named} | ${help} |`
    })
    expect(rows).toEqual(expected)
  })

  test('explains every label', () => {
    const page = read('docs/observability.md')
    const explained = page.slice(page.indexOf('| label | values |'))
    const labels = new Set(ALL.flatMap((instrument) => instrument.labels))
    // It is explained in a sentence above.
    labels.delete('turnpike.usage.estimated')
    expect([...labels].filter((label) => !explained.includes(`\`${label}\``))).toEqual([])
  })
})
