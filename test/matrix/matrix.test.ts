import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import {
  matrixText,
  type Named,
  namedDialects,
  type Pair,
  type PairLoss,
  pairsOf,
  summary,
} from '../../src/matrix/index.ts'
import { ITEMS } from '../../src/model/index.ts'
import { startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = join(ROOT, 'docs/matrix.md')
const BETWEEN = /(?<=<!-- matrix -->\n)[\s\S]*?(?=<!-- \/matrix -->)/

let dialects: Named[]
let pairs: Pair[]

beforeAll(async () => {
  dialects = namedDialects(Object.values(await loadCodecs()))
  pairs = pairsOf(dialects)
})

function pair(client: string, agent: string): Pair {
  return pairs.find((known) => known.client === client && known.agent === agent)!
}

describe('the matrix', () => {
  test('has every client with every agent, each dialect once, and a value for every item and topic', () => {
    const clients = dialects.filter(({ dialect }) => dialect.front).length
    const agents = dialects.filter(({ dialect }) => dialect.back).length
    expect(pairs).toHaveLength(clients * agents)
    expect(new Set(dialects.map(({ dialect }) => dialect)).size).toBe(dialects.length)
    for (const { items, topics, counts } of pairs) {
      expect(Object.keys(items)).toEqual([...ITEMS])
      expect(Object.values(topics)).not.toContain(undefined)
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(ITEMS.length)
    }
  })

  test('says of known pairs what is known of them', () => {
    expect(pair('zene', 'zot').topics).toMatchObject({
      text: 'weakened',
      streaming: 'kept',
      'tool calls': 'lost',
      approvals: 'absent',
      usage: 'kept',
      costs: 'lost',
      'time limits': 'served',
      cancel: 'kept',
    })
    expect(pair('qwen-code', 'zot').topics).toMatchObject({
      'tool results': 'kept',
      reasoning: 'absent',
      costs: 'lost',
    })
    expect(pair('openharness', 'qwen').topics).toMatchObject({
      approvals: 'kept',
      images: 'weakened',
      'privacy tier': 'lost',
      locale: 'lost',
      directives: 'absent',
    })
  })

  test('loses nothing that is unknown within one dialect', () => {
    for (const { name } of dialects) {
      const own = pair(name, name)
      if (own) expect(['kept', 'absent'], name).toContain(own.topics['unknown fields'])
    }
  })

  test('the table of docs/matrix.md is that of the codecs', () => {
    const table = `${summary(pairs, 'markdown')}\n`
    const page = readFileSync(PAGE, 'utf8')
    if (process.env['ACCEPT'])
      writeFileSync(
        PAGE,
        page.replace(BETWEEN, () => table),
      )
    else expect(BETWEEN.exec(page)?.[0]).toBe(table)
  })
})

describe('how it is shown', () => {
  const some = (): Pair[] => pairs.filter(({ client, agent }) => client === 'zene' && /^agentproc(@0.4)?$/.test(agent))

  test('as text, in columns', () => {
    const lines = matrixText(some(), 'text').split('\n')
    expect(lines.slice(0, 4)).toEqual([
      'Clients (rows) with agents (columns): how many things are kept / weakened / lost.',
      '',
      '      agentproc   agentproc@0.4',
      `zene  ${counts(some()[0]!)}  ${counts(some()[1]!)}`,
    ])
    expect(lines).toContain('tool calls             -          -')
    expect(lines).toContain('reasoning              -          lost')
    expect(lines).toContain('zene → agentproc')
    expect(lines.every((line) => line === line.trimEnd())).toBe(true)
  })

  test('as markdown, in tables', () => {
    const lines = matrixText(some(), 'markdown').split('\n')
    expect(lines.slice(2, 5)).toEqual([
      '|  | agentproc | agentproc@0.4 |',
      '| --- | --- | --- |',
      `| zene | ${counts(some()[0]!)} | ${counts(some()[1]!)} |`,
    ])
    expect(lines).toContain('### zene clients')
    expect(lines).toContain('| reasoning | - | lost |')
    expect(lines.find((line) => line.startsWith('- lost: '))).toContain('`notice`')
  })
})

function counts({ counts: { kept, served, weakened, lost } }: Pair): string {
  return `${kept + served} / ${weakened} / ${lost}`
}

describe('turnpike matrix', () => {
  const ran = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [TURNPIKE, 'matrix', ...args], { encoding: 'utf8' })
    return { status, stdout, stderr }
  }

  test('prints what is asked for: a protocol means all its dialects', () => {
    expect(ran('--from', 'zene', '--to', 'zot')).toEqual({
      status: 0,
      stdout: matrixText([pair('zene', 'zot'), pair('zene@clawrun', 'zot')], 'text'),
      stderr: '',
    })
    const json = JSON.parse(ran('--format=json', '--from=zene@clawrun', '--to=agentproc@0.4').stdout)
    expect(json).toEqual({ pairs: [pair('zene@clawrun', 'agentproc@0.4')] })
    expect(ran('--format', 'markdown').stdout).toBe(matrixText(pairs, 'markdown'))
  })

  test.each([
    [['--from', 'nobody'], 'no clients use "nobody"; known: '],
    [['--to', 'zene@clawrun'], 'no agents use "zene@clawrun"; known: '],
    [['--format', 'xml'], 'unknown format "xml"'],
    [['zot'], 'unexpected argument "zot"'],
  ])('%j is a mistake', (args, text) => {
    const { status, stdout, stderr } = ran(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`turnpike matrix: ${text}`)
  })
})

describe('GET /v1/matrix', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    vi.stubEnv('MATRIX_KEY', 'open-sesame')
    gateway = await startGateway('server: { keys: [{ name: ops, env: MATRIX_KEY }] }\nagents: {}\n')
    vi.unstubAllEnvs()
  })
  afterAll(() => gateway.close())

  const get = (headers: Record<string, string>) => fetch(`${gateway.url}/v1/matrix`, { headers })

  test('has all pairs, for those with a key', async () => {
    const answer = await get({ authorization: 'Bearer open-sesame' })
    const told = (await answer.json()) as {
      fronts: string[]
      backs: string[]
      pairs: (Pair & { losses: PairLoss[] })[]
    }
    expect([answer.status, told.pairs.map(({ losses: _, ...pair }) => pair)]).toEqual([200, pairs])
    expect([told.fronts, told.backs]).toEqual([
      [...new Set(pairs.map(({ client }) => client))],
      [...new Set(pairs.map(({ agent }) => agent))],
    ])
    for (const { losses, counts } of told.pairs) {
      expect(losses.filter(({ kind }) => kind === 'lost')).toHaveLength(counts.lost)
      expect(losses.filter(({ kind }) => kind === 'weakened')).toHaveLength(counts.weakened)
    }
    const pair = told.pairs.find(({ client, agent }) => client === 'zene' && agent === 'native')!
    const whyOf = (item: string) => pair.losses.find((loss) => loss.item === item)?.why
    expect(whyOf('part.image')).toBe('Clients of zene have no place for it.')
    expect((await get({})).status).toBe(401)
    expect((await get({ authorization: 'Bearer open-sesame', origin: 'https://elsewhere.example' })).status).toBe(403)
  })
})
