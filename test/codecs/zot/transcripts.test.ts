import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zot/index.ts'
import type { TurnStart } from '../../../src/model/index.ts'
import { type BackDrive, driveFront } from '../../kit/drive.ts'
import { answer, ended, endsOf, type Line, readyBack, sentLines, serve } from './kit.ts'
import { recordedLines, type Scenario, scenarios } from './recorded.ts'

interface Replay {
  drive: BackDrive
  turns: { turn: string; id: string; start: Partial<TurnStart>; outs: string[] }[]
}

const QUERIES: Record<string, 'state' | 'messages' | 'models' | 'health'> = {
  get_state: 'state',
  get_messages: 'messages',
  get_models: 'models',
  ping: 'health',
}

/** Plays what the agent wrote to a back that asked for it: every response stands for the command that it answers. */
function replay(scenario: Scenario): Replay {
  const lines = recordedLines(scenario)
  const drive = readyBack()
  const turns: Replay['turns'] = []
  const prompts = new Map<unknown, Line>()
  for (const { dir, line, cut } of lines) {
    if (dir === 'in' && !cut) {
      const command = parsed(line)
      if (command) prompts.set(command['id'], command)
    }
    if (dir !== 'out') continue
    const value = parsed(line)
    if (value?.['type'] !== 'response') {
      turns.at(-1)?.outs.push(line)
      drive.feed(line)
      continue
    }
    respond(drive, turns, value, prompts.get(value['id']))
  }
  drive.link.decodeEnd(ended)
  return { drive, turns }
}

function respond(drive: BackDrive, turns: Replay['turns'], value: Line, prompt: Line | undefined): void {
  const { command, id, type: _type, ...more } = value as { command: string; id?: string } & Line
  if (command === 'prompt' || command === 'compact') {
    const input = [{ type: 'text' as const, text: String(prompt?.['message'] ?? '') }]
    const start = { turn: `t${turns.length + 1}`, task: command, input } as const
    turns.push({ turn: start.turn, id: id ?? '', start, outs: [] })
    drive.start('', start)
  } else if (command === 'abort') {
    const sent = drive.sent.length
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    if (drive.sent.length === sent) return
  } else if (command === 'clear') drive.link.encode({ exchange: 'q', type: 'session-clear' })
  else if (command === 'set_model') drive.link.encode({ exchange: 'q', type: 'config-set', model: 'm' })
  else if (QUERIES[command]) drive.link.encode({ exchange: 'q', type: 'query', what: QUERIES[command] })
  else return
  answer(drive, command, more)
}

function parsed(line: string): Line | undefined {
  try {
    const value = JSON.parse(line) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Line) : undefined
  } catch {
    return undefined
  }
}

/** How the turns of the interesting recordings end; all others are completed. */
const ENDS: Record<string, string[]> = {
  'abort-after-headers-before-first-token.jsonl': ['cancelled aborted'],
  'abort-compact.jsonl': ['completed end', 'completed end', 'completed end', 'cancelled aborted', 'completed end'],
  'abort-during-bash-parallel.jsonl': ['cancelled aborted'],
  'abort-during-bash-trap.jsonl': ['cancelled aborted'],
  'abort-hang.jsonl': ['cancelled aborted'],
  'abort-mid-stream.jsonl': ['cancelled aborted', 'completed end'],
  'abort-twice.jsonl': ['cancelled aborted'],
  'client-acp-cancel-1.jsonl': ['cancelled aborted'],
  'client-sdk-js-image-abort.jsonl': ['cancelled aborted'],
  'client-example-node-error.jsonl': ['failed error'],
  'client-example-python-error.jsonl': ['failed error'],
  'client-example-go-error.jsonl': ['failed error'],
  'client-example-shell-error.jsonl': ['failed error'],
  'compact-empty.jsonl': ['failed error'],
  'compact-fails.jsonl': ['completed end', 'completed end', 'completed end', 'failed error'],
  'compact-empty-summary.jsonl': ['completed end', 'completed end', 'completed end', 'failed error'],
  'ext-notify-tool-intercept.jsonl': ['completed end', 'failed error'],
  'hello-missing-other-commands-first.jsonl': ['failed error'],
  'max-steps.jsonl': ['failed max-turns', 'completed end'],
  'prompt-image-bad-base64.jsonl': ['failed error'],
  'prompt-message-not-a-string.jsonl': ['failed error', 'failed error', 'failed error'],
  'provider-drop-before.jsonl': ['failed error'],
  'provider-error-400.jsonl': ['failed error', 'completed end'],
  'provider-error-401.jsonl': ['failed error', 'completed end'],
  'provider-error-500.jsonl': ['failed error', 'completed end'],
  'provider-error-503.jsonl': ['failed error', 'completed end'],
  'provider-error-after-tool.jsonl': ['failed error'],
  'provider-refused.jsonl': ['failed error'],
  'provider-sse-error.jsonl': ['failed error'],
  'sigint-mid-turn.jsonl': ['failed error'],
  'sigterm-mid-turn.jsonl': ['failed error'],
  'stdout-closed.jsonl': ['failed error'],
}

const CODES: Record<string, string> = {
  'provider-error-400.jsonl': 'provider-error',
  'provider-error-401.jsonl': 'provider-auth',
  'provider-error-500.jsonl': 'provider-down',
  'provider-error-503.jsonl': 'provider-down',
  'provider-refused.jsonl': 'provider-down',
  'provider-drop-before.jsonl': 'provider-down',
  'sigterm-mid-turn.jsonl': 'agent-crashed',
}

const NOTICES: Record<string, string[]> = {
  'provider-drop-mid-stream.jsonl': ['partial-answer'],
  'text-empty-answer.jsonl': ['empty-answer'],
  'reasoning-only.jsonl': ['empty-answer'],
  'tool-finish-stop-with-calls.jsonl': ['empty-answer'],
  'ext-notify-tool-intercept.jsonl': ['ext-notify', 'ext-notify', 'ext-notify'],
}

/** The program refuses these arguments: help on stderr, nothing on stdout, exit code 1. */
const REFUSED: ReadonlySet<string> = new Set([
  'flag-unknown.jsonl',
  'flag-equals.jsonl',
  'flag-reasoning-bad.jsonl',
  'flag-reasoning-off.jsonl',
  'flag-max-steps-zero.jsonl',
  'flag-max-steps-word.jsonl',
])

describe('recorded wires of zot', () => {
  const all = scenarios()

  test.each(all.map((scenario) => [scenario.file, scenario] as const))('%s through the back', (file, scenario) => {
    const { drive, turns } = replay(scenario)
    const ends = turns.map(({ turn }) => endsOf(drive.events).filter((end) => end.turn === turn))
    expect(ends.every((list) => list.length === 1)).toBe(true)
    const shapes = ends.map(([end]) => `${end!.outcome} ${end!.stop}`)
    if (file === 'prompt-image-odd-shapes.jsonl')
      expect(shapes.filter((shape) => shape === 'failed error')).toHaveLength(3)
    else expect(shapes).toEqual(ENDS[file] ?? turns.map(() => 'completed end'))
    if (!scenario.textMode && !scenario.brokenOnPurpose) {
      expect(drive.losses.filter((loss) => loss.kind === 'unparsed')).toEqual([])
    }
    expect(drive.events.some((event) => event.type === 'foreign')).toBe(false)
    if (CODES[file]) expect(ends[0]![0]!.fault?.code).toBe(CODES[file])
    const notices = drive.events.filter((event) => event.type === 'notice').map((event) => event.code)
    expect(notices).toEqual(NOTICES[file] ?? [])
  })

  test('the usage of a turn is the sum over its model calls, not the total of the process', () => {
    const { drive } = replay(all.find(({ file }) => file === 'usage-cumulative.jsonl')!)
    const turns = drive.events.filter((event) => event.type === 'usage' && event.scope === 'turn')
    expect(turns.map((event) => event.type === 'usage' && event.usage)).toEqual(
      Array(3).fill({ input: 600, output: 200, cacheRead: 400, cacheWrite: 0, costUsd: 0.003 }),
    )
  })

  test.each(all.map((scenario) => [scenario.file, scenario] as const))('%s through the front', (file, scenario) => {
    const env = Object.fromEntries(
      scenario.env.filter((name) => name.includes('=')).map((pair) => pair.split('=') as [string, string]),
    )
    const drive = driveFront(codec, { argv: scenario.args, env })
    const ins = recordedLines(scenario).filter(({ dir, cut }) => dir === 'in' && !cut)
    let answered = 0
    for (const { line } of ins) {
      if (line.trim() === '') continue
      drive.feed(line.replace(/\r$/, ''))
      serve(drive, answered)
      answered = drive.commands.length
    }
    if (REFUSED.has(file)) {
      expect([drive.sent, drive.commands, drive.exitCode]).toEqual([[], [], 1])
      expect(drive.warned.at(-1)).toMatch(/^zot: /)
      return
    }
    const written = scenario.textMode ? [] : sentLines(drive)
    const starts = drive.commands.filter((command) => command.type === 'turn-start')
    expect(written.filter((line) => line['type'] === 'done')).toHaveLength(scenario.textMode ? 0 : starts.length)
    const responses = written.filter((line) => line['type'] === 'response')
    const asked = ins.filter(({ line }) => line.trim() !== '')
    if (!scenario.textMode) expect(responses).toHaveLength(asked.length)
    const ids = asked.map(({ line }) => parsed(line)?.['id']).filter((id) => typeof id === 'string' && id !== '')
    if (!scenario.brokenOnPurpose && !scenario.textMode)
      expect(responses.flatMap((line) => line['id'] ?? [])).toEqual(ids)
    const wrongToken = file.startsWith('hello-token-wrong') || file.startsWith('hello-token-not-a-string')
    expect(drive.exitCode).toBe(
      wrongToken ? 1 : file === 'flag-version.jsonl' || file === 'flag-list-models.jsonl' ? 0 : undefined,
    )
  })
})
