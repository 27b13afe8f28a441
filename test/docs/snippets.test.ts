/** The snippets of the documentation that are no commands: configurations, an agent, a transcript, settings of editors. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { loadCodecs } from '../../codecs/index.ts'
import { sections } from '../../docs/site/pages.ts'
import { codecInfos } from '../../src/cli/configured.ts'
import type { CodecInfos } from '../../src/config/index.ts'
import { parseConfig } from '../../src/config/load.ts'
import { runTurnpike } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'

const PAGES = sections().flatMap(({ pages }) => pages.map(({ source }) => source))

interface Snippet {
  page: string
  text: string
}

/** The blocks of all pages in a language; '' for those that name none. */
function blocks(language: string): Snippet[] {
  return PAGES.flatMap((page) => {
    const found = readFileSync(join(ROOT, page), 'utf8').matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)
    return [...found]
      .filter(([, , named]) => named === language)
      .map(([, indent = '', , text = '']) => ({ page, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }))
  })
}

describe('configurations', () => {
  /** Files of other programs: their first key. */
  const FOREIGN = ['scrape_configs', 'receivers', 'apiVersion']
  const own = blocks('yaml').filter(({ text }) => !FOREIGN.includes(/^(\w+):/.exec(text)?.[1] ?? ''))
  const AGENT = '{ protocol: zot, command: zot }'
  let codecs: CodecInfos
  beforeAll(async () => {
    codecs = codecInfos(await loadCodecs())
  })

  test('there are some, and the others are YAML', () => {
    expect(own.length).toBeGreaterThan(5)
    for (const { text } of blocks('yaml')) expect(() => parseYaml(text)).not.toThrow()
  })

  test.each(own)('$page: $text', ({ text }) => {
    const names = [...text.matchAll(/\$\{(\w+)|\benv: (\w+)/g)].map(([, variable, key]) => variable ?? key!)
    const env = Object.fromEntries(names.map((name) => [name, `/value-of-${name}`]))
    const whole = /^agents:/m.test(text) ? text : `${text}\nagents: { coder: ${AGENT}, helper: ${AGENT} }\n`
    const config = parseConfig(whole.replaceAll('sha256:…', 'a'.repeat(64)), { file: 'x', folder: '/', env, codecs })
    expect(config.warnings).toEqual([])
  })
})

describe('the native API', () => {
  let folder: string
  let gateway: TestGateway
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-snippets-'))
    const [agent] = blocks('python')
    writeFileSync(join(folder, 'agent.py'), agent!.text)
    gateway = await startGateway(`
default: python
agents:${EXAMPLE_AGENTS}
  hello: { protocol: agentproc, command: echo, args: [Hello!] }
  python: { protocol: native, command: python3, args: [${folder}/agent.py] }
`)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the whole agent in Python is one', async () => {
    const response = await fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"hi"}',
    })
    expect(await response.json()).toMatchObject({ outcome: 'completed', text: 'You said: hi' })
  })

  test('the exchange in lines is what a client and the gateway write', async () => {
    const lines = blocks('')
      .find(({ text }) => text.startsWith('< {"type":"agent-ready"'))!
      .text.trim()
      .split('\n')
    const of = (mark: string): Record<string, unknown>[] =>
      lines.filter((line) => line.startsWith(mark)).map((line) => JSON.parse(line.slice(2)))
    const sent = of('>').map((message) => `${JSON.stringify(message)}\n`)
    const { stdout } = await runTurnpike(['as', 'native', '--agent', 'hello'], sent.join(''), {
      TURNPIKE_URL: gateway.url,
    })
    const got = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const shape = (message: Record<string, unknown>): unknown => [message['type'], message['turn'], message['seq']]
    expect(got.map(shape)).toEqual(of('<').map(shape))
  })

  test.each(blocks('').filter(({ text }) => /^data: /m.test(text)))('$page: $text', ({ text }) => {
    const [, data] = /^data: (.*)$/m.exec(text)!
    expect(() => JSON.parse(data!.replaceAll(/,?…/g, ''))).not.toThrow()
  })
})

describe('settings of editors', () => {
  const page = readFileSync(join(ROOT, 'docs/editors.md'), 'utf8')
  const commands = [...page.matchAll(/"as", "acp"[^\]}]*/g)].map(
    ([words]) => JSON.parse(`[${words.trim().replace(/,$/, '')}]`) as string[],
  )

  test('start the agent that they name, and are answered', async () => {
    expect(commands.length).toBeGreaterThan(3)
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-editors-'))
    const config = join(folder, 'turnpike.yaml')
    writeFileSync(config, `agents:${EXAMPLE_AGENTS}store: { kind: sqlite, path: ./turnpike.db }\n`)
    const hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
    for (const args of new Set(commands.map((words) => words.join('\n')))) {
      const own = args.split('\n').map((word) => (word.endsWith('turnpike.yaml') ? config : word))
      const { stdout } = await runTurnpike(own, hello)
      expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocolVersion: 1 } })
    }
    rmSync(folder, { recursive: true, force: true })
  })
})
