import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, clientNames, runTurnpike } from '../../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway, TURNPIKE } from '../../kit/gateway.ts'
import { CHUNK_ARGS, chat, JSON_ARGS, type Line } from './kit.ts'

const AGENT = join(import.meta.dirname, 'agent.mjs')
const command = `command: ${process.execPath}, args: [${AGENT}]`
const AGENTS = `${EXAMPLE_AGENTS}  qwen: { protocol: qwen, ${command} }
  whole: { protocol: qwen, output: stream-json, ${command} }
  brief: { protocol: qwen, output: stream-json, lifetime: turn, ${command} }
`

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

/** The content of all completions of an answer, joined. */
const contentOf = (lines: readonly Line[]): string =>
  lines
    .flatMap(({ choices }) => (choices as { message?: { content?: string }; delta?: { content?: string } }[]) ?? [])
    .map(({ message, delta }) => message?.content ?? delta?.content ?? '')
    .join('')

describe('the RFC through real processes', () => {
  let gateway: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nagents:${AGENTS}`)
    folder = mkdtempSync(join(tmpdir(), 'turnpike-qwen-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(config, `default: qwen\nagents:${AGENTS}store: { kind: sqlite, path: ./turnpike.db }\n`)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** One request of lines to the endpoint. */
  const post = async (body: string, agent: string, query = ''): Promise<Line[]> => {
    const headers = { 'content-type': 'application/x-ndjson', 'turnpike-agent': agent }
    const response = await fetch(`${gateway.url}/v1/qwen${query}`, { method: 'POST', headers, body })
    return linesOf(await response.text())
  }

  /** The stand-in with these lines on its standard input. */
  const stand = async (agent: string, args: readonly string[], lines: readonly (string | object)[]) => {
    const input = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
    const ran = await runTurnpike(['as', 'qwen', '--config', config, '--agent', agent, ...args], input)
    return { ...ran, lines: args.includes('text') ? [] : linesOf(ran.stdout) }
  }

  test.each(clientNames)('as the agent of %s: a turn, and the next one of its session', async (front) => {
    for (const agent of ['qwen', 'whole']) {
      const opened = front.startsWith('agentproc') || front === 'openharness' ? '' : `${agent}-${front}`
      const first = await askHttp(gateway.url, front, { text: 'hello', session: opened, agent, id: `${agent}1` })
      expect(first).toMatchObject({ ok: true, text: 'You said: hello (turn 1 of this session)' })
      const second = await askHttp(gateway.url, front, {
        text: 'again',
        session: first.session,
        agent,
        id: `${agent}2`,
      })
      expect(second).toMatchObject({ ok: true, text: 'You said: again (turn 2 of this session)' })
    }
  })

  test('a process for every turn', async () => {
    for (const id of ['1', '2']) {
      const answer = await askHttp(gateway.url, 'zene', {
        text: 'hello',
        session: 'brief',
        agent: 'brief',
        id: `b${id}`,
      })
      expect(answer).toMatchObject({ ok: true, text: 'You said: hello (turn 1 of this session)' })
    }
  })

  test.each(['helper', 'coder', 'writer', 'planner', 'qwen', 'whole'])('as the endpoint of %s', async (agent) => {
    for (const query of ['', '?output_format=stream-chunk-json']) {
      const lines = await post(chat('hello', { session_id: `e-${agent}${query}` }), agent, query)
      expect(contentOf(lines)).toContain('hello')
      if (query === '') expect(lines.at(-1)).toMatchObject({ type: 'x-qwen-session-event', event: 'Finished' })
      else expect(lines.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    }
  })

  test.each(['helper', 'coder', 'writer', 'qwen'])('as the stand-in of %s, in pieces', async (agent) => {
    const body = '{"model":"qwen-coder","messages":[{"role":"user","content":"hello"}]}'
    const ran = await stand(agent, CHUNK_ARGS, [body])
    expect(ran.code).toBe(0)
    expect(ran.lines[0]).toMatchObject({
      choices: [{ delta: { role: 'assistant' } }],
      metadata: { protocol_version: '1.0' },
    })
    expect(contentOf(ran.lines)).toContain('hello')
  })

  test('the first line of the RFC takes the stand-in, whatever the format', async () => {
    const ran = await stand('qwen', JSON_ARGS, [chat('one'), chat('two', { prompt_id: 'p2' })])
    expect(ran.code).toBe(0)
    expect(contentOf(ran.lines)).toBe('You said: one (turn 1 of this session)You said: two (turn 2 of this session)')
    expect(ran.lines.filter(({ event }) => event === 'Finished').map(({ prompt_id }) => prompt_id)).toEqual([
      's########1',
      'p2',
    ])
  })

  test('a command goes through as one', async () => {
    const lines = await post(chat('/list', { session_id: 'list' }), 'qwen')
    expect(lines.slice(1)).toMatchObject([
      { type: 'result/command', command: { path: ['list'] }, result: { type: 'message', content: 'nothing there' } },
      { type: 'x-qwen-session-event', event: 'Finished' },
    ])
  })

  test('a failure ends the stand-in with code 1, a version that is not there with 2', async () => {
    const failed = await stand('qwen', JSON_ARGS, [chat('fail'), chat('never')])
    expect(failed.code).toBe(1)
    expect(failed.lines.at(-1)).toEqual({
      error: { message: 'It broke.', type: 'rate_limit_error', param: null, code: 'QUOTA' },
    })
    const version = await stand('qwen', JSON_ARGS, [chat('x', { protocol_version: '9' })])
    expect(version.code).toBe(2)
    expect(version.lines).toMatchObject([{ metadata: { error: { code: 'unsupported_protocol' } } }])
  })

  test('an agent of the other dialect is named as such', async () => {
    const shipped = join(import.meta.dirname, '../../../kit/agents/qwen-code.mjs')
    const other = await startGateway(
      `default: x\nagents:\n  x: { protocol: qwen, command: sh, args: [-c, 'read line; echo "{\\"type\\":\\"system\\",\\"subtype\\":\\"init\\"}"; exec ${process.execPath} ${shipped}'] }\n`,
    )
    const body = chat('hello')
    const response = await fetch(`${other.url}/v1/qwen`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    const lines = linesOf(await response.text())
    expect(lines.at(-1)).toMatchObject({
      error: { message: expect.stringContaining('set protocol: qwen-code') as string, code: 'QWEN_PROTOCOL_VIOLATION' },
    })
    await other.close()
  })

  test('a question of the agent follows the policy of the route where the client cannot answer', async () => {
    const lines = await post(chat('ask', { session_id: 'ask' }), 'qwen')
    expect(contentOf(lines)).toBe('The answer was deny.')
  })

  test('a client on stdio answers the question and cancels a turn while it runs', async () => {
    const args = [TURNPIKE, 'as', 'qwen', '--config', config, '--agent', 'qwen', ...JSON_ARGS]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    const say = (line: string): void => void child.stdin.write(`${line}\n`)
    const where = { session_id: 's', prompt_id: 'p2' }
    const got: Line[] = []
    say(chat('ask'))
    for await (const text of createInterface({ input: child.stdout })) {
      const line = JSON.parse(text) as Line
      got.push(line)
      const { type, request_id, event } = line
      if (type === 'control_request') {
        const response = { subtype: 'success', result: { behavior: 'approve' } }
        say(JSON.stringify({ type: 'control_response', request_id, response }))
      } else if (event === 'Finished') {
        say(chat('wait', where))
        say(JSON.stringify({ type: 'control/cancel', ...where, reason: 'escape' }))
      } else if (event === 'USER_CANCELLED') child.stdin.end()
    }
    const code = child.exitCode ?? (await new Promise((resolve) => child.on('exit', resolve)))
    expect(code).toBe(0)
    expect(contentOf(got)).toBe('The answer was approve.')
    expect(got.slice(-3)).toMatchObject([
      { type: 'result/cancel', ...where, status: 'ok' },
      { type: 'control_response', request_id: 'p2' },
      { type: 'x-qwen-session-event', ...where, event: 'USER_CANCELLED' },
    ])
  })

  test('text in, text out', async () => {
    const ran = await stand(
      'whole',
      ['--input-format', 'text', '--output-format', 'text', '--protocol-version', '1'],
      ['hello'],
    )
    expect(ran).toMatchObject({ code: 0, stdout: 'You said: hello (turn 1 of this session)\n' })
  })
})
