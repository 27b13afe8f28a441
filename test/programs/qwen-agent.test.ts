import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askHttp, clientNames, clientOf } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { ASKED, describeWith, installed, PROVIDER } from './kit.ts'

const CLI = installed('@qwen-code/qwen-code/cli.js')

/** What keeps the CLI from asking the network and from calls of its own. */
const SETTINGS = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
  model: { generationConfig: { maxRetries: 0 } },
}

/** The scripted model provider, as far as it is used here. */
interface Provider {
  baseUrl: string
  close(): Promise<void>
}

/** A prompt that the provider answers with these steps. */
const scripted = (text: string, ...steps: object[]): string => `${text} [[fake ${JSON.stringify({ steps })}]]`
const counted = (input: number, output: number) => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
})

describeWith('Qwen Code 0.24.4 as the agent', [CLI], () => {
  let folder: string
  let provider: Provider
  let gateway: TestGateway

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-qwen-agent-'))
    mkdirSync(join(folder, 'home/.qwen'), { recursive: true })
    mkdirSync(join(folder, 'work'))
    writeFileSync(join(folder, 'home/.qwen/settings.json'), JSON.stringify(SETTINGS))
    const { startFakeOpenAI } = (await import(PROVIDER)) as { startFakeOpenAI(options: object): Promise<Provider> }
    provider = await startFakeOpenAI({})
    const env = {
      HOME: join(folder, 'home'),
      OPENAI_BASE_URL: provider.baseUrl,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: 'fake-model',
      QWEN_CODE_NO_RELAUNCH: '1',
    }
    const streams = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--include-partial-messages']
    const args = [CLI, ...streams, '--approval-mode', 'default']
    const agent = { protocol: 'qwen-code', command: process.execPath, args, cwd: join(folder, 'work'), env }
    gateway = await startGateway(
      // A CLI that gives its place to the next session takes its time to exit, which is not waited for.
      `limits: { grace: 200ms }
agents: { qwen: ${JSON.stringify({ ...agent, pool: { max: 2 } })} }
routes: [{ agent: qwen, approvals: allow }]
`,
    )
  })
  afterAll(async () => {
    await gateway?.close()
    await provider?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const opened = (front: string): string =>
    front.startsWith('agentproc') || front === 'openharness' ? '' : `s-${front}`

  test.each(clientNames)('for %s: text, then a tool, in one session; each turn has its own tokens', async (front) => {
    const hello = scripted('Say hello.', { text: ['Hello', ' from', ' the model.'], ...counted(100, 20) })
    const first = await askHttp(gateway.url, front, { text: hello, session: opened(front), id: '1' })
    expect(first, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'Hello from the model.' })
    expect(clientOf(front).tokens?.(first.raw) ?? [100, 20]).toEqual([100, 20])

    const file = join(folder, 'work', `${front.replace(/\W/g, '-')}.txt`)
    const call = { name: 'write_file', args: { file_path: file, content: 'as told' } }
    const write = scripted(
      'Write it.',
      { tool_calls: [call], ...counted(300, 30) },
      { text: 'It is written.', ...counted(400, 4) },
    )
    const second = await askHttp(gateway.url, front, { text: write, session: first.session, id: '2' })
    const sign = ASKED[front]
    if (sign !== undefined) {
      expect(second.raw).toContain(sign)
      expect(existsSync(file)).toBe(false)
      for (const turn of gateway.engine.turns) turn.cancel()
      await until(() => gateway.engine.turns.length === 0)
      return
    }
    expect(second, gateway.logged.join('\n')).toMatchObject({ ok: true, text: 'It is written.' })
    expect(readFileSync(file, 'utf8')).toBe('as told')
    expect(clientOf(front).tokens?.(second.raw) ?? [700, 34]).toEqual([700, 34])
  })

  test('an error of the provider is the error of the turn', async () => {
    const text = 'Fail. [[fake {"status":400,"error":{"message":"the model will not","type":"invalid_request_error"}}]]'
    const failed = await askHttp(gateway.url, 'zene', { text, session: 's-error', id: '3' })
    expect(failed).toMatchObject({ ok: false, text: '' })
    expect(JSON.parse(failed.raw)).toMatchObject({ error_message: expect.stringContaining('the model will not') })
  })
})
