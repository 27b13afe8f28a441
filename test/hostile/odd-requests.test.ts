import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

/**
 * Requests, answers and updates that agents of the installed kind should not send: each has one defined outcome, every
 * request of the agent is answered, and the session goes on.
 */
const AGENT = join(import.meta.dirname, 'agent/requests.mjs')

/** The text of the answer or the code of the failure, then the losses; and what the session says next: nothing after a failed start. */
interface Row {
  protocol: 'acp' | 'codex' | 'claude-code'
  behaviour: string
  outcome: string
  next?: string
}

const acp = (behaviour: string, outcome: string, next?: string): Row => ({
  protocol: 'acp',
  behaviour,
  outcome,
  ...(next !== undefined && { next }),
})
const IDS = ['0', '-1', '1.5', '""', '"a b"', 'null', '9007199254740993']
const REFUSED = IDS.toSorted()
  .map((id) => `${id} -32601`)
  .join(', ')

const ROWS: readonly Row[] = [
  acp('nothing to initialize', 'agent-unavailable'),
  acp('another version', 'unsupported-version'),
  acp('no version', 'unsupported-version'),
  acp('an error to initialize', 'agent-unavailable'),
  acp('no object to initialize', 'unsupported-version'),
  acp('frames by Content-Length', 'protocol-violation'),
  acp('a login is wanted', 'provider-auth'),
  acp('an error to session/new', 'internal'),
  acp('a session without an id', 'protocol-violation'),
  acp('an id that came back as text', 'well', 'well'),
  acp('an error without a message', 'internal', 'well'),
  acp('an error of a provider', 'provider-rate-limit', 'well'),
  acp('neither result nor error', ' + 1 foreign', 'well'),
  acp('a batch', 'three. + 1 foreign', 'well'),
  acp('an unknown stop reason', 'x + 1 end.stop', 'well'),
  acp('ids of every kind', REFUSED, 'well'),
  acp('a session that is unknown', 'mine + 1 foreign', 'well'),
  acp('two answers', 'once', 'well'),
  acp('an answer to nothing', 'x + 1 command-reply', 'well'),
  acp('an answer before the last update', 'early', 'well, told before: late'),
  acp('noise on stdout', 'x + 2 foreign', 'well'),
  acp('a permission without options', '1 -32602', 'well'),
  acp('a permission of another session', '{"outcome":{"outcome":"cancelled"}}', 'well'),
  acp('a permission without parameters', '1 -32602', 'well'),
  acp('files outside of its folder', '1 -32602, 2 -32602, 3 -32602, 4 -32602, 5 -32602, 6 result', 'well'),
  acp('files that are not offered', '1 -32601, 2 -32601', 'well'),
  acp('terminals that are not offered', '1 -32601, 2 -32601', 'well'),
  ...(['codex', 'claude-code'] as const).flatMap((protocol): Row[] => [
    { protocol, behaviour: 'nothing to initialize', outcome: 'agent-unavailable' },
    {
      protocol,
      behaviour: 'an unknown request',
      outcome: protocol === 'codex' ? '"q" -32601, 0 -32601' : '"a" error, "b" error + 2 ask',
      next: 'well',
    },
    { protocol, behaviour: 'two ends', outcome: 'once', next: 'well' },
    {
      protocol,
      behaviour: 'text after the end',
      outcome: 'early',
      // Claude Code begins what it says by itself with a line of its own.
      next: protocol === 'codex' ? 'well, told before: late' : 'well',
    },
    { protocol, behaviour: 'a batch', outcome: 'x + 1 foreign', next: 'well' },
  ]),
]

const nameOf = ({ protocol, behaviour }: Row): string => `${protocol}-${behaviour.replace(/\W/g, '-')}`

/** Options of the agent. */
function optionsOf({ protocol, behaviour }: Row): string {
  const limits = behaviour === 'nothing to initialize' ? 'limits: { start: 1s }, ' : ''
  return `${limits}${protocol === 'acp' && behaviour === 'files outside of its folder' ? 'client: workspace, ' : ''}`
}

describe('what an agent should not say or ask', { timeout: 60_000 }, () => {
  let gateway: TestGateway
  let work: string

  beforeAll(async () => {
    const lines = ROWS.map((row) => {
      const command = `command: ${process.execPath}, args: [${AGENT}, ${row.protocol}, "${row.behaviour}"], cwd: ./work`
      return `  ${nameOf(row)}: { protocol: ${row.protocol}, ${command}, ${optionsOf(row)} breaker: { failures: 1000 } }\n`
    })
    gateway = await startGateway(`default: ${nameOf(ROWS[0]!)}\nlimits: { grace: 200ms }\nagents:\n${lines.join('')}`)
    work = join(gateway.folder, 'work')
    mkdirSync(work)
    writeFileSync(join(gateway.folder, 'outside.txt'), 'secret')
    symlinkSync(join(gateway.folder, 'outside.txt'), join(work, 'link.txt'))
  })
  afterAll(() => gateway.close())

  interface Answer {
    text: string
    fault?: { code: string }
    losses?: { item: string; count: number }[]
    notices?: { code: string; text: string }[]
  }
  async function ask(row: Row, text: string): Promise<Answer> {
    const asked = { text, session: nameOf(row), agent: nameOf(row), id: `${nameOf(row)}-${text}` }
    return JSON.parse((await askHttp(gateway.url, 'native', asked)).raw) as Answer
  }
  const said = ({ text, fault, losses = [] }: Answer): string =>
    [fault?.code ?? text, ...losses.map(({ item, count }) => `${count} ${item}`)].join(' + ')

  test.each(ROWS.map((row) => [row.protocol, row.behaviour, row] as const))(
    '%s: %s',
    async (_protocol, _behaviour, row) => {
      expect(said(await ask(row, 'go'))).toBe(row.outcome)
      if (row.next === undefined) return
      const next = await ask(row, 'behave')
      const before = next.notices
        ?.filter(({ code }) => code !== 'empty-answer')
        .map(({ text }) => `, told before: ${text}`)
      expect(`${said(next)}${before?.join('') ?? ''}`).toBe(row.next)
    },
  )

  test('left no trace outside of its folder, or by a terminal', () => {
    expect(readFileSync(join(gateway.folder, 'outside.txt'), 'utf8')).toBe('secret')
    expect(['relative.txt', 'taken'].filter((name) => existsSync(join(work, name)))).toEqual([])
    expect(readFileSync(join(work, 'own.txt'), 'utf8')).toBe('mine')
  })
})
