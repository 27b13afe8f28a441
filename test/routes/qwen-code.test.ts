import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, clientNames, runTurnpike } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

const AGENT = join(import.meta.dirname, '../kit/agents/qwen-code.mjs')
const AGENTS = `${EXAMPLE_AGENTS}  qwen: { protocol: qwen-code, command: ${process.execPath}, args: [${AGENT}] }\n`

describe('Qwen Code as it shipped', () => {
  let gateway: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nagents:${AGENTS}`)
    folder = mkdtempSync(join(tmpdir(), 'turnpike-qwen-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(config, `default: helper\nagents:${AGENTS}store: { kind: sqlite, path: ./turnpike.db }\n`)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each(clientNames)('as the agent of %s: a turn, and the next one of its session', async (front) => {
    const opened = front.startsWith('agentproc') || front === 'openharness' ? '' : `s-${front}`
    const first = await askHttp(gateway.url, front, { text: 'hello', session: opened, agent: 'qwen', id: '1' })
    expect(first).toMatchObject({ ok: true, text: 'You said: hello (turn 1 of this session)' })
    const second = await askHttp(gateway.url, front, { text: 'again', session: first.session, agent: 'qwen', id: '2' })
    expect(second).toMatchObject({ ok: true, text: 'You said: again (turn 2 of this session)' })
  })

  test.each([
    ['helper', 'Turn 1 of this session. You said:\n> hello'],
    ['coder', 'You said: hello (turn 1 of this session)'],
    ['writer', 'You said: hello (turn 1 of this session)'],
    ['qwen', 'You said: hello (turn 1 of this session)'],
  ])('as the stand-in of %s', async (agent, text) => {
    const streams = ['--input-format', 'stream-json', '--output-format', 'stream-json']
    const input = [
      { type: 'control_request', request_id: 'c1', request: { subtype: 'initialize' } },
      { type: 'user', session_id: '', message: { role: 'user', content: 'hello' }, parent_tool_use_id: null },
    ]
    const args = ['as', 'qwen-code', '--config', config, '--agent', agent, ...streams]
    const ran = await runTurnpike(args, input.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const lines = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(ran.code).toBe(0)
    expect(lines[0]).toMatchObject({ type: 'control_response', response: { subtype: 'success', request_id: 'c1' } })
    expect(lines.filter(({ type }) => type === 'result')).toHaveLength(1)
    expect(lines.at(-1)).toMatchObject({ type: 'result', subtype: 'success', is_error: false, result: text })
  })
})
