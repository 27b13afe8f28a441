import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askHttp, type ClientName, clientOf } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { describeLarge, installedLarge, SCRIPTED_MODEL, type ScriptedModel } from './kit.ts'

const CLI = installedLarge(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
const DOORS: readonly ClientName[] = ['openharness', 'zene', 'native', 'openai']

/** A prompt for which the model calls a tool of Claude Code. */
const call = (name: string, args: object): string => `[[tool ${name} ${JSON.stringify(args)}]]`
const bash = (command: string): string => call('Bash', { command, description: 'runs it' })

describeLarge('Claude Code 2.1.318 as the agent', [CLI], () => {
  let folder: string
  let model: ScriptedModel
  let gateway: TestGateway
  const work = (): string => join(folder, 'work')

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-claude-'))
    mkdirSync(join(folder, 'home'))
    mkdirSync(work())
    const { startModel } = (await import(SCRIPTED_MODEL)) as { startModel(): Promise<ScriptedModel> }
    model = await startModel()
    const agent = (...args: string[]) => ({
      protocol: 'claude-code',
      command: CLI,
      args: ['--settings', `{"env":{"MARK":"${folder}"}}`, ...args],
      cwd: work(),
      env: {
        HOME: join(folder, 'home'),
        // It may be root here.
        IS_SANDBOX: '1',
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        CLAUDE_CODE_MAX_RETRIES: '0',
      },
    })
    const agents = { claude: agent(), careful: agent(), mortal: agent(), limited: agent('--max-turns', '1') }
    gateway = await startGateway(
      `agents: ${JSON.stringify(agents)}
default: claude
routes:
  - { when: { agent: careful }, agent: careful, approvals: deny }
  - { when: { agent: mortal }, agent: mortal }
  - { when: { agent: limited }, agent: limited, approvals: allow }
  - { agent: claude, approvals: allow }
`,
    )
  })
  afterAll(async () => {
    await gateway?.close()
    await model?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const opened = (door: string, name: string): string => (door === 'openharness' ? '' : `${name}-${door}`)
  const ask = (door: ClientName, agent: string, text: string, session: string) =>
    askHttp(gateway.url, door, { text, session, agent, id: `r${Math.random()}` })

  test.each(DOORS)('for %s: two turns of one session, each with its own tokens', async (door) => {
    const first = await ask(door, 'claude', 'Hello', opened(door, 'plain'))
    expect(first, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'mock says: Hello (message 1)' })
    expect(clientOf(door).tokens?.(first.raw) ?? [14, 6]).toEqual([14, 6])
    const second = await ask(door, 'claude', 'Again', first.session)
    expect(second).toMatchObject({ ok: true, text: 'mock says: Again (message 2)' })
    expect(clientOf(door).tokens?.(second.raw) ?? [14, 6]).toEqual([14, 6])
  })

  test.each(['zene', 'openai'] as const)('for %s: a tool that is approved runs', async (door) => {
    const file = join(work(), `approved-${door}.txt`)
    const answer = await ask(door, 'claude', bash(`echo done > ${file}; cat ${file}`), opened(door, 'approved'))
    expect(answer, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'tool results: done' })
    expect(readFileSync(file, 'utf8')).toBe('done\n')
  })

  test.each(['zene', 'openai'] as const)('for %s: a tool that is denied does not run', async (door) => {
    const file = join(work(), `denied-${door}.txt`)
    const answer = await ask(door, 'careful', bash(`echo done > ${file}`), opened(door, 'denied'))
    expect(answer).toMatchObject({ ok: true })
    expect(existsSync(file)).toBe(false)
  })

  test.each(['native', 'openharness'] as const)('for %s: the client itself is asked', async (door) => {
    const asked = await ask(door, 'claude', bash(`touch ${work()}/asked.txt`), opened(door, 'asked'))
    expect(asked.raw).toContain(door === 'native' ? '"outcome":"parked"' : '"action_type":"request_approval"')
    for (const turn of gateway.engine.turns) turn.cancel()
    await until(() => gateway.engine.turns.length === 0)
    expect(existsSync(join(work(), 'asked.txt'))).toBe(false)
  })

  test('a file is written after an approval', async () => {
    const file = join(work(), 'note.txt')
    const answer = await ask('zene', 'claude', call('Write', { file_path: file, content: 'as told\n' }), 'write')
    expect(answer, gateway.logged.join('\n')).toMatchObject({ ok: true })
    expect(readFileSync(file, 'utf8')).toBe('as told\n')
  })

  test('a cancel ends the command that runs, and the session goes on', async () => {
    const running = ask('zene', 'claude', bash('python3 -c "import time; time.sleep(54322)"'), 'cancel')
    await until(() => pidsOf('time.sleep(54322)').length > 0)
    for (const turn of gateway.engine.turns) turn.cancel()
    expect(await running).toMatchObject({ ok: false })
    await until(() => pidsOf('time.sleep(54322)').length === 0)
    const again = await ask('zene', 'claude', 'Still there?', 'cancel')
    expect(again).toMatchObject({ ok: true, text: expect.stringContaining('Still there? (message 2)') })
  })

  test('a session goes on after its process was killed', async () => {
    await ask('zene', 'mortal', 'Remember 7.', 'killed')
    for (const pid of pidsOf(folder)) process.kill(pid, 'SIGKILL')
    // The processes of other sessions end too.
    await until(() => pidsOf(folder).length === 0)
    await until(() => gateway.logged.some((line) => line.startsWith('an agent failed') && line.includes('"mortal"')))
    expect(await ask('zene', 'mortal', 'What was it?', 'killed')).toMatchObject({
      ok: true,
      text: 'mock says: What was it? (message 2)',
    })
    expect(JSON.stringify(model.requests.at(-1)!['messages'])).toContain('Remember 7.')
  })

  test.each([
    [400, 'provider-error'],
    [401, 'provider-auth'],
    [429, 'provider-rate-limit'],
    [500, 'provider-down'],
  ])('a model that answers %d fails the turn: %s', async (status, code) => {
    const failed = await ask('native', 'claude', `[[status ${status}]]`, `status-${status}`)
    expect(clientOf('native').failure(failed.raw)).toBe(code)
  })

  test('a model that is cut off fails the turn', async () => {
    const failed = await ask('native', 'claude', '[[cut]]', 'cut')
    expect(clientOf('native').failure(failed.raw)).toBe('provider-down')
  })

  test('a limit of the agent fails the turn', async () => {
    const failed = await ask('native', 'limited', bash('echo hi'), 'limited')
    expect(failed.raw).toContain('"stop":"max-turns"')
  })

  test('a turn has the model that it names', async () => {
    const body = { type: 'turn-start', request: 'm1', input: 'Hello', options: { model: 'claude-haiku-9' } }
    const answer = await fetch(`${gateway.url}/v1/turns/claude`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(await answer.json()).toMatchObject({ outcome: 'completed' })
    expect(model.requests.at(-1)!['model']).toBe('claude-haiku-9')
  })
})
