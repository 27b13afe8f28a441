import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askHttp, type ClientName, clientOf } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { describeLarge, installedLarge, SCRIPTED_MODEL, type ScriptedModel } from './kit.ts'

const CLI = installedLarge('@openai/codex/bin/codex.js')
const DOORS: readonly ClientName[] = ['openharness', 'zene', 'native', 'openai']

/** A prompt for which the model calls a tool of Codex. */
const call = (args: object): string => `[[tool exec_command ${JSON.stringify(args)}]]`
/** A command for which Codex asks. */
const asking = (cmd: string): string => call({ cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' })
const patch = (file: string): string =>
  call({ cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${file}\n+as told\n*** End Patch\nEOF` })

describeLarge('Codex 0.171.0 as the agent', [CLI], () => {
  let folder: string
  let model: ScriptedModel
  let gateway: TestGateway
  const work = (): string => join(folder, 'work')

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-codex-'))
    mkdirSync(join(folder, 'home'))
    mkdirSync(work())
    const { startModel } = (await import(SCRIPTED_MODEL)) as { startModel(): Promise<ScriptedModel> }
    model = await startModel()
    writeFileSync(
      join(folder, 'home/config.toml'),
      `model = "mock"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
[model_providers.mock]
name = "mock"
base_url = "${model.url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`,
    )
    const home = join(folder, 'home')
    const agent = (protocol: string, ...args: string[]) => ({
      protocol,
      command: process.execPath,
      args: [CLI, '-c', `tui.alternate_screen="never"`, '-c', `projects."${folder}".trust_level="trusted"`, ...args],
      cwd: work(),
      env: { HOME: home, CODEX_HOME: home },
    })
    const free = ['-c', 'approval_policy="never"', '-c', 'sandbox_mode="danger-full-access"']
    const agents = {
      codex: agent('codex'),
      careful: agent('codex'),
      mortal: agent('codex'),
      free: agent('codex', ...free),
      once: agent('codex@exec', ...free, 'exec', '--skip-git-repo-check'),
    }
    gateway = await startGateway(
      `agents: ${JSON.stringify(agents)}
default: codex
routes:
  - { when: { agent: careful }, agent: careful, approvals: deny }
  - { when: { agent: mortal }, agent: mortal }
  - { when: { agent: free }, agent: free, approvals: deny }
  - { when: { agent: once }, agent: once }
  - { agent: codex, approvals: allow }
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
    const first = await ask(door, 'codex', 'Hello', opened(door, 'plain'))
    expect(first, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'mock says: Hello (message 2)' })
    expect(clientOf(door).tokens?.(first.raw) ?? [14, 6]).toEqual([14, 6])
    const second = await ask(door, 'codex', 'Again', first.session)
    expect(second).toMatchObject({ ok: true, text: 'mock says: Again (message 3)' })
    expect(clientOf(door).tokens?.(second.raw) ?? [14, 6]).toEqual([14, 6])
  })

  test.each(['zene', 'openai'] as const)('for %s: a tool that is approved runs', async (door) => {
    const file = join(work(), `approved-${door}.txt`)
    const answer = await ask(door, 'codex', asking(`echo done > ${file}; cat ${file}`), opened(door, 'approved'))
    expect(answer, gateway.logged.join('\n')).toMatchObject({
      ok: true,
      text: expect.stringContaining('Output:\ndone'),
    })
    expect(readFileSync(file, 'utf8')).toBe('done\n')
  })

  test.each(['zene', 'openai'] as const)('for %s: a tool that is denied does not run', async (door) => {
    const file = join(work(), `denied-${door}.txt`)
    const answer = await ask(door, 'careful', asking(`echo done > ${file}`), opened(door, 'denied'))
    expect(answer).toMatchObject({ ok: true, text: expect.stringContaining('rejected by user') })
    expect(existsSync(file)).toBe(false)
  })

  test.each(['native', 'openharness'] as const)('for %s: the client itself is asked', async (door) => {
    const asked = await ask(door, 'codex', asking('true'), opened(door, 'asked'))
    expect(asked.raw).toContain(door === 'native' ? '"outcome":"parked"' : '"action_type":"request_approval"')
    for (const turn of gateway.engine.turns) turn.cancel()
    await until(() => gateway.engine.turns.length === 0)
  })

  test('a file is changed after an approval', async () => {
    const answer = await ask('zene', 'codex', patch('note.txt'), 'patch')
    expect(answer, gateway.logged.join('\n')).toMatchObject({ ok: true })
    expect(readFileSync(join(work(), 'note.txt'), 'utf8')).toBe('as told\n')
  })

  test('a cancel ends the command that runs, and the session goes on', async () => {
    const running = ask('zene', 'free', call({ cmd: 'sleep 54321' }), 'cancel')
    await until(() => pidsOf('54321').length > 0)
    for (const turn of gateway.engine.turns) turn.cancel()
    expect(await running).toMatchObject({ ok: false })
    await until(() => pidsOf('54321').length === 0)
    expect(await ask('zene', 'free', 'Still there?', 'cancel')).toMatchObject({
      ok: true,
      text: 'mock says: Still there? (message 4)',
    })
  })

  test('a session goes on after its process was killed', async () => {
    await ask('zene', 'mortal', 'Remember 7.', 'killed')
    for (const pid of pidsOf(folder)) process.kill(pid, 'SIGKILL')
    // The processes of other sessions end too.
    await until(() => pidsOf(folder).length === 0)
    await until(() => gateway.logged.some((line) => line.startsWith('an agent failed') && line.includes('"mortal"')))
    expect(await ask('zene', 'mortal', 'What was it?', 'killed')).toMatchObject({
      ok: true,
      text: 'mock says: What was it? (message 3)',
    })
    const { input } = model.requests.at(-1)!
    expect(JSON.stringify(input)).toContain('Remember 7.')
  })

  test.each([
    [400, 'provider-error'],
    [401, 'provider-auth'],
    [429, 'provider-rate-limit'],
    [500, 'provider-down'],
  ])('a model that answers %d fails the turn: %s', async (status, code) => {
    const failed = await ask('native', 'codex', `[[status ${status}]]`, `status-${status}`)
    expect(failed).toMatchObject({ ok: false })
    expect(clientOf('native').failure(failed.raw)).toBe(code)
  })

  test('a model that is cut off fails the turn', async () => {
    const failed = await ask('native', 'codex', '[[cut]]', 'cut')
    expect(clientOf('native').failure(failed.raw)).toBe('provider-down')
  })

  test('exec: a process for each turn, one thread for the session', async () => {
    const first = await ask('zene', 'once', 'Hello\nthere', 'exec')
    expect(first, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'mock says: Hello\nthere (message 2)' })
    const second = await ask('zene', 'once', call({ cmd: 'printf one' }), 'exec')
    expect(second).toMatchObject({ ok: true, text: expect.stringContaining('Output:\none') })
    expect(clientOf('zene').tokens!(second.raw)).toEqual([28, 12])
    const failed = await ask('zene', 'once', '[[status 429]]', 'exec')
    expect(clientOf('zene').failure(failed.raw)).toBe('PROVIDER_RATE_LIMIT')
  })

  test('what it speaks is 0.171.0', () => {
    expect(execFileSync(process.execPath, [CLI, '--version'], { encoding: 'utf8' })).toBe('codex-cli 0.171.0\n')
  })
})
