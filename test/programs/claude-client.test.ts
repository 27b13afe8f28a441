import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { describeLarge, installedLarge, SCRIPTED_MODEL, type ScriptedModel } from './kit.ts'

const CLI = installedLarge(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
const KIT = `${process.cwd()}/test/kit/agents`

/** The answer of one run, as `claude -p --output-format json` prints it. */
interface Result {
  is_error: boolean
  result: string
  num_turns: number
  session_id: string
}

describeLarge('Claude Code 2.1.318 as a client', [CLI], () => {
  let folder: string
  let model: ScriptedModel
  let gateway: TestGateway
  const work = (): string => join(folder, 'work')

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-claude-'))
    mkdirSync(join(folder, 'home'))
    mkdirSync(work())
    writeFileSync(join(work(), 'a.txt'), 'hello from a file\n')
    const { startModel } = (await import(SCRIPTED_MODEL)) as { startModel(): Promise<ScriptedModel> }
    model = await startModel()
    gateway = await startGateway(`
agents:
  messages: { protocol: anthropic, url: "${model.url}" }
  chat: { protocol: openai, url: "${model.url}/v1" }
  responses: { protocol: openai@responses, url: "${model.url}/v1" }
  tools: { protocol: native, command: ${process.execPath}, args: [${KIT}/native.mjs] }
`)
  })
  afterAll(async () => {
    await gateway?.close()
    await model?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  /** Runs it on a prompt, with an agent as its model. */
  function run(agent: string, prompt: string, ...args: string[]): Promise<Result> {
    const options = {
      cwd: work(),
      env: {
        PATH: process.env['PATH'],
        HOME: join(folder, 'home'),
        // It may be root here.
        IS_SANDBOX: '1',
        ANTHROPIC_BASE_URL: gateway.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        CLAUDE_CODE_MAX_RETRIES: '0',
      },
    }
    const flags = ['-p', prompt, '--model', agent, '--output-format', 'json', '--dangerously-skip-permissions']
    return new Promise((resolve, reject) => {
      const child = execFile(CLI, [...flags, ...args], options, (error, stdout, stderr) => {
        if (stdout === '') reject(error ?? new Error(stderr))
        else resolve(JSON.parse(stdout) as Result)
      })
      child.stdin!.end()
    })
  }
  const turns = async (): Promise<{ state: string; session: string; agent: string }[]> =>
    ((await (await fetch(`${gateway.url}/v1/turns`)).json()) as { turns: never[] }).turns
  const bash = (command: string) => ({ command, description: 'runs it' })

  test.each(['messages', 'chat', 'responses'])(
    'runs its own tools for a model behind %s, in one turn of its session',
    async (agent) => {
      const before = (await turns()).length
      const script = `echo written > ${agent}.txt && cat a.txt`
      const found = await run(agent, `Do it. [[tool Bash ${JSON.stringify(bash(script))}]]`)
      expect(found).toMatchObject({
        is_error: false,
        num_turns: 2,
        result: expect.stringContaining('hello from a file'),
      })
      expect(readFileSync(join(work(), `${agent}.txt`), 'utf8')).toBe('written\n')
      const [turn, ...others] = await turns()
      expect(turn).toMatchObject({ state: 'completed', agent, session: found.session_id })
      expect(others).toHaveLength(before)
    },
  )

  test('runs two tools that are called at once', async () => {
    const calls = ['one', 'two'].map((name) => ({ name: 'Bash', args: bash(`touch ${name} && echo ${name}`) }))
    const found = await run('messages', `Do it. [[calls ${JSON.stringify(calls)}]]`)
    expect(found).toMatchObject({ is_error: false, num_turns: 3, result: expect.stringMatching(/one.*two/s) })
    expect(['one', 'two'].map((name) => existsSync(join(work(), name)))).toEqual([true, true])
  })

  test('shows the tools that an agent runs itself, and does not run them', async () => {
    const found = await run('tools', 'hi')
    expect(found).toMatchObject({ is_error: false, num_turns: 1, result: expect.stringContaining('You said:') })
  })

  test('goes on with its session', async () => {
    const first = await run('messages', 'First.')
    const second = await run('messages', 'Second.', '--resume', first.session_id)
    expect(second.is_error).toBe(false)
    const sent = JSON.stringify(model.requests.at(-1)!['messages'])
    for (const said of ['First.', first.result, 'Second.']) expect(sent).toContain(said)
  })

  test.each([
    ['a model that fails', 'messages', 'Go. [[status 400]]', /mock refuses|status 400/],
    ['a model that there is not', 'nobody', 'Go.', /nobody/],
  ])('reports %s', async (_what, agent, prompt, words) => {
    const found = await run(agent, prompt)
    expect(found.is_error).toBe(true)
    expect(found.result).toMatch(words)
  })
})
