import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { describeLarge, installedLarge, SCRIPTED_MODEL, type ScriptedModel } from './kit.ts'

const CLI = installedLarge('@openai/codex/bin/codex.js')
const run = promisify(execFile)

/** A line that Codex writes. */
interface Line {
  type: string
  item?: { type: string; text?: string; aggregated_output?: string; exit_code?: number }
  usage?: { input_tokens: number; output_tokens: number }
  error?: { message: string }
}

describeLarge('Codex 0.171.0 as the client of Responses', [CLI], () => {
  let folder: string
  let model: ScriptedModel
  let gateway: TestGateway

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-codex-client-'))
    mkdirSync(join(folder, 'home'))
    mkdirSync(join(folder, 'work'))
    const { startModel } = (await import(SCRIPTED_MODEL)) as { startModel(): Promise<ScriptedModel> }
    model = await startModel()
    gateway = await startGateway(`agents:${EXAMPLE_AGENTS}
  chat: { protocol: openai, url: "${model.url}/v1", model: mock }
  responses: { protocol: openai@responses, url: "${model.url}/v1", model: mock }
  messages: { protocol: anthropic, url: "${model.url}", model: mock }
  missing: { protocol: agentproc, command: ./nobody, args: [] }
`)
    writeFileSync(
      join(folder, 'home/config.toml'),
      `model_provider = "turnpike"
[model_providers.turnpike]
name = "Turnpike"
base_url = "${gateway.url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
`,
    )
  })
  afterAll(async () => {
    await gateway?.close()
    await model?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  /** Runs one prompt; a run that fails gives its lines too. */
  async function codex(agent: string, prompt: string): Promise<{ code: number; lines: Line[] }> {
    const home = join(folder, 'home')
    const args = ['exec', '--json', '--skip-git-repo-check', '-s', 'danger-full-access', '-m', agent, prompt]
    const env = { PATH: process.env['PATH'], HOME: home, CODEX_HOME: home }
    const running = run(process.execPath, [CLI, ...args], { cwd: join(folder, 'work'), env })
    running.child.stdin!.end()
    const ended = running.then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    )
    const { code, stdout } = await ended
    const lines = stdout.split('\n').filter((line) => line !== '')
    return { code, lines: lines.map((line) => JSON.parse(line) as Line) }
  }
  const said = (lines: readonly Line[]): string | undefined =>
    lines.flatMap(({ item }) => (item?.type === 'agent_message' ? item.text! : [])).at(-1)

  test.each(['chat', 'responses', 'messages'])('runs its tools for a model of %s', async (agent) => {
    const file = join(folder, 'work', `${agent}.txt`)
    const call = `[[tool exec_command ${JSON.stringify({ cmd: `echo hello > ${file} && cat ${file}` })}]]`
    const { code, lines } = await codex(agent, call)
    expect(code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('hello\n')
    const done = lines.filter(({ type }) => type === 'item.completed').map(({ item }) => item)
    expect(done).toContainEqual(
      expect.objectContaining({ type: 'command_execution', aggregated_output: 'hello\n', exit_code: 0 }),
    )
    expect(said(lines)).toMatch(/^tool results: .*Output:\nhello/s)
    expect(lines.at(-1)).toMatchObject({ type: 'turn.completed', usage: { input_tokens: 28, output_tokens: 12 } })
    // The call and its result are one turn of the gateway.
    const { turns } = (await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: { state: string }[] }
    expect(turns.filter(({ state }) => state !== 'completed')).toEqual([])
  })

  test.each([
    // It shows the beginning of all that it was told, which is long.
    ['helper', 'Turn 1 of this session.'],
    ['coder', 'Good morning.'],
    ['writer', 'Good morning.'],
    ['planner', 'Good morning.'],
  ])('is served by the example %s', async (agent, text) => {
    const { code, lines } = await codex(agent, 'Good morning.')
    expect(code).toBe(0)
    expect(said(lines)).toContain(text)
    expect(lines.at(-1)!.type).toBe('turn.completed')
  })

  test.each([
    ['of an agent that cannot be reached', 'missing', 'hi'],
    ['of a model that there is not', 'gpt-4o', 'hi'],
    ['in the middle of an answer', 'responses', '[[cut]]'],
  ])('reports a failure %s, and no answer', async (_, agent, prompt) => {
    const { code, lines } = await codex(agent, prompt)
    expect(code).toBe(1)
    expect(lines.at(-1)).toMatchObject({ type: 'turn.failed', error: { message: expect.any(String) } })
  })
})
