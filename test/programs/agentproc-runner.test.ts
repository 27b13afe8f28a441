import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TURNPIKE } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { describeWith, installed, makePlace, type Place } from './kit.ts'

const PACKAGE = installed('agentproc/src')
/** Tells this file's silent agents from those of others. */
const MARK = '1002'

/** The runner of AgentProc 0.14, as far as it is called here. */
interface Runner {
  run(profile: object, options: RunOptions): Promise<RunResult>
}
interface RunOptions {
  message: string
  sessionId?: string
  timeoutSecs?: number
  extraEnv?: Record<string, string>
  attachments?: object[]
  onPartial?(text: string, role?: string): void
  onPermission?(request: Record<string, unknown>): object
  onStderr?(line: string): void
}
interface RunResult {
  reply: string
  sessionId: string
  error: string
  exitCode: number
  timedOut: boolean
  usage: Record<string, unknown> | null
}

const SAID = (text: string, turn: number) => `You said: ${text} (turn ${turn} of this session)`
const ANSWERS: Record<string, (text: string, turn: number, session: string) => string> = {
  helper: (text, turn) => `Turn ${turn} of this session. You said:\n> ${text}`,
  coder: SAID,
  writer: SAID,
  planner: (text, _turn, session) => `You said: ${text} (session ${session})`,
}

/** What of usage the agent told. */
const USAGE: Record<string, object | null> = {
  helper: null,
  coder: { input_tokens: 11, output_tokens: 9 },
  writer: { input_tokens: 11, output_tokens: 9 },
  planner: { input_tokens: 11 },
}

describeWith('the AgentProc runner 0.14', [PACKAGE], () => {
  let place: Place
  let runner: Runner
  const complaints: string[] = []

  beforeAll(() => {
    place = makePlace(undefined, MARK)
    runner = createRequire(import.meta.url)(join(PACKAGE, 'runner.js')) as Runner
  })
  afterAll(() => place.remove())

  const profile = (agent: string, more: object = {}) => ({
    command: place.link('turnpike'),
    args: ['as', 'agentproc', '--config', place.config, '--agent', agent],
    ...more,
  })
  const run = (agent: string, options: RunOptions, more?: object): Promise<RunResult> =>
    runner.run(profile(agent, more), { onStderr: (line) => complaints.push(line), ...options })

  describe.each(['alone', 'of a running gateway'])('with a stand-in %s', (how) => {
    let gateway: ChildProcess | undefined

    beforeAll(async () => {
      if (how === 'alone') return
      const args = [TURNPIKE, 'serve', '--port', '0', '--config', place.config]
      gateway = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(gateway.stdout!, 'data')
    })
    afterAll(async () => {
      if (!gateway) return
      const ended = once(gateway, 'exit')
      gateway.kill('SIGTERM')
      await ended
    })

    test.each(Object.keys(ANSWERS))('%s streams a turn, and goes on with its session', async (agent) => {
      complaints.length = 0
      const partials: string[] = []
      const first = await run(agent, { message: 'hello there', onPartial: (text) => partials.push(text) })
      expect(first).toMatchObject({
        error: '',
        exitCode: 0,
        timedOut: false,
        sessionId: expect.stringMatching(/^\S+$/),
      })
      const answer = ANSWERS[agent]!('hello there', 1, first.sessionId)
      // The runner gives the result's text only where it forwarded no partial; a planner answers in one piece.
      expect([partials.join(''), first.reply]).toEqual(agent === 'planner' ? ['', answer] : [answer, ''])
      if (USAGE[agent] === null) expect(first.usage).toBeNull()
      else expect(first.usage).toMatchObject(USAGE[agent]!)
      const second = await run(agent, { message: 'again', sessionId: first.sessionId })
      // Alone, a process of a zot agent ends with its stand-in.
      const turn = agent === 'coder' && how === 'alone' ? 1 : 2
      expect(second).toMatchObject({ error: '', exitCode: 0, sessionId: first.sessionId })
      expect(second.reply).toBe(ANSWERS[agent]!('again', turn, first.sessionId))
      expect(complaints).toEqual([])
    })

    test.each([
      ['allow', 'told: allow'],
      ['deny', 'told: deny'],
    ])('is asked for a permission, and says %s', async (behavior, reply) => {
      const asked: Record<string, unknown>[] = []
      const onPermission = (request: Record<string, unknown>): object => {
        asked.push(request)
        return { behavior }
      }
      const ran = await run('careful', { message: 'hi', onPermission }, { permission: true })
      expect(ran).toMatchObject({ reply, error: '', exitCode: 0 })
      expect(asked).toMatchObject([{ type: 'permission_request', tool_name: 'rm', input: { path: '/tmp/x' } }])
    })

    test('is told of a failure, with the agent’s own exit code', async () => {
      const ran = await run('failing', { message: 'hi' })
      const error = 'The agent failed (exit code 3); its stderr is in the gateway log.'
      expect(ran).toMatchObject({ reply: '', error, exitCode: 3, timedOut: false })
    })

    test('is answered on its own wire when it hands on variables of another turn', async () => {
      const stale = { AGENT_MESSAGE: 'stale', AGENT_PROTOCOL_VERSION: '0.1', AGENT_STREAMING: '1' }
      const ran = await run('writer', { message: 'fresh', extraEnv: stale })
      expect(ran).toMatchObject({ reply: SAID('fresh', 1), error: '', exitCode: 0 })
    })
  })

  test('ends a turn that takes too long, and nothing is left of it', async () => {
    const ran = await run('silent', { message: 'hi', timeoutSecs: 4 })
    expect(ran).toMatchObject({ reply: '', error: 'The turn was cancelled.', exitCode: 124, timedOut: true })
    await until(() => pidsOf(`silent.sh\u0000${MARK}`).length === 0)
  })

  test('attachments alone are a turn, and neither is an error', async () => {
    const attachments = [{ kind: 'image', url: 'https://example.com/a.png' }]
    expect(await run('writer', { message: '', attachments })).toMatchObject({ reply: SAID('', 1), exitCode: 0 })
    const error = 'turn.message is required, or turn.attachments; send one of them.'
    expect(await run('writer', { message: '' })).toMatchObject({ reply: '', error, exitCode: 1 })
  })

  test('the command line runs a profile', async () => {
    const file = join(place.folder, 'profile.yaml')
    // JSON is YAML; the hub's files have their fields below this key.
    writeFileSync(file, `agentproc: ${JSON.stringify(profile('helper', { streaming: false }))}\n`)
    const args = [join(PACKAGE, 'cli.js'), '--profile', file, '--prompt', 'hello', '--quiet']
    const ran = await new Promise<{ stdout: string; stderr: string; code: unknown }>((resolve) => {
      execFile(process.execPath, args, (error, stdout, stderr) => resolve({ stdout, stderr, code: error?.code ?? 0 }))
    })
    expect(ran).toMatchObject({ code: 0, stdout: `${ANSWERS['helper']!('hello', 1, '')}\n` })
    expect(ran.stderr).toMatch(/^agentproc:session:\S+\n$/)
  })
})
