/** The gateway as the client of an agent on the official SDK, which checks every message by the schema of its method. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { describeWith, installed } from './kit.ts'

const AGENT = join(import.meta.dirname, 'agents/acp-sdk.mjs')

interface Turn {
  outcome: string
  text: string
  continuation?: string
  asks?: { ask: string; question: { kind: string } }[]
}

describeWith('The SDK of ACP 2.4.0 as the agent', [installed('@agentclientprotocol/sdk/dist/v1/acp.js')], () => {
  let folder: string
  let gateway: TestGateway
  const wrong = (): string => (existsSync(join(folder, 'wrong')) ? readFileSync(join(folder, 'wrong'), 'utf8') : '')

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-acp-sdk-'))
    mkdirSync(join(folder, 'work'))
    const agent = {
      protocol: 'acp',
      command: process.execPath,
      args: [AGENT, folder],
      cwd: join(folder, 'work'),
      env: { WRONG: join(folder, 'wrong') },
      auth: 'key',
      client: 'workspace',
      folders: ['/srv'],
      mcp_servers: [{ name: 'files', command: ['mcp', '-v'], env: { A: 'b' } }],
    }
    gateway = await startGateway(`agents: { it: ${JSON.stringify(agent)} }\ndefault: it\n`)
  })
  afterAll(async () => {
    await gateway?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function turn(session: string, input: unknown, more: object = {}): Promise<Turn> {
    const answer = await fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input, session: { id: session }, ...more }),
    })
    return (await answer.json()) as Turn
  }

  async function replied(turn: Turn, reply: object): Promise<Turn> {
    const ask = turn.asks?.[0]?.ask
    const answer = await fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'ask-reply', target: { continuation: turn.continuation }, ask, reply }),
    })
    return (await answer.json()) as Turn
  }

  test('text, images and files', async () => {
    const input = [
      { type: 'text', text: 'Hello' },
      { type: 'image', base64: 'QQ==', mime: 'image/png' },
      { type: 'audio', base64: 'QQ==' },
      { type: 'file', url: 'file:///a.txt' },
      { type: 'file', base64: 'QQ==', name: 'b.bin' },
    ]
    const text = 'ask small text image audio resource_link resource'
    expect(await turn('parts', input)).toMatchObject({ outcome: 'completed', text })
    expect(wrong()).toBe('')
  })

  test('a model for one turn', async () => {
    const texts = [
      await turn('model', 'One'),
      await turn('model', 'Two', { options: { model: 'big' } }),
      await turn('model', 'Three'),
    ].map(({ text }) => text)
    expect(texts).toEqual(['ask small text', 'ask big text', 'ask small text'])
    expect(wrong()).toBe('')
  })

  test('a permission and a form are asked and answered', async () => {
    const approval = await turn('asks', 'permission')
    expect(approval).toMatchObject({ outcome: 'parked', asks: [{ question: { kind: 'approval' } }] })
    expect(await replied(approval, { kind: 'approval', option: 'no' })).toMatchObject({ text: 'no' })
    const form = await turn('asks', 'form')
    expect(await replied(form, { kind: 'input', values: { name: 'me' } })).toMatchObject({ text: 'accept' })
    expect(wrong()).toBe('')
  })

  test('files in its folder, and nothing else', async () => {
    const { text } = await turn('files', 'files')
    expect(JSON.parse(text)).toEqual(['two', -32602, -32601])
    expect(readFileSync(join(folder, 'work/new.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(wrong()).toBe('')
  })

  test('a cancel', async () => {
    const running = turn('cancel', 'hang')
    await until(() => gateway.engine.turns.length > 0 && gateway.engine.turns[0]!.link?.ready === true)
    for (const one of gateway.engine.turns) one.cancel()
    expect(await running).toMatchObject({ outcome: 'cancelled' })
    expect(wrong()).toBe('')
  })

  test('a session is loaded after its process is gone, and what it repeats is not the answer', async () => {
    await turn('loaded', 'One')
    for (const pid of pidsOf(folder)) process.kill(pid, 'SIGKILL')
    await until(() => pidsOf(folder).length === 0)
    await until(() => gateway.logged.some((line) => line.startsWith('an agent failed')))
    expect(await turn('loaded', 'Two')).toMatchObject({ outcome: 'completed', text: 'ask small text' })
    expect(wrong()).toBe('')
  })
})
