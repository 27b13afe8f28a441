import { describe, expect, test } from 'vitest'
import { LiveView } from '../../../src/engine/events/view.ts'
import { isRecord, parse, type TurnEnd, type TurnEvent } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, plainTurn } from '../../kit/drive.ts'
import { codec, controlSuccess, endOf, requestId } from './kit.ts'
import { argsOf, recordedLines, type Scenario, scenarioOf, scenarios } from './recorded.ts'

/** Plays a recording to a back link: what the host wrote are the commands, what the CLI wrote is fed. */
class Replay {
  readonly drive: BackDrive
  readonly #waiting: string[] = []
  readonly #ids = new Map<string, string>()
  started = 0

  constructor(scenario: Scenario) {
    const args = argsOf(scenario)
    this.drive = driveBack(codec, { process: { command: 'qwen', args, env: {}, cwd: '/' } })
    this.drive.link.open!()
  }

  run(scenario: Scenario): void {
    const lines = recordedLines(scenario)
    const greets = '"response":{"subtype":"initialize"'
    if (!lines.some(({ dir, line }) => dir === 'out' && line.includes(greets))) this.#greet()
    const args = argsOf(scenario)
    const oneShot = args.includes('-p') || !args.includes('--input-format')
    if (oneShot) this.#prompt('from the arguments')
    for (const { dir, line } of lines) {
      if (dir === 'in') this.#in(line)
      else if (dir === 'out') this.#out(line)
    }
    const exit = scenario.exitCode === null ? { signal: 'SIGTERM' } : { exitCode: scenario.exitCode }
    this.drive.link.decodeEnd({ why: 'closed', ...exit })
  }

  #greet(): void {
    this.drive.feed(controlSuccess(requestId(this.drive, 'initialize'), { subtype: 'initialize' }))
  }

  #in(line: string): void {
    const value = parse(line.replace(/^\ufeff/, ''))
    if (!isRecord(value)) return
    const request = value['request']
    if (value['type'] === 'user') {
      const message = value['message']
      const content = isRecord(message) ? message['content'] : undefined
      if (typeof content === 'string' ? content !== '' : Array.isArray(content) && content.length > 0) {
        this.#prompt(typeof content === 'string' ? content : JSON.stringify(content))
      }
    } else if (isRecord(request) && request['subtype'] === 'initialize') {
      this.#ids.set(String(value['request_id']), requestId(this.drive, 'initialize'))
    } else if (isRecord(request) && request['subtype'] === 'interrupt' && this.#busy) {
      this.drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: { turn: this.#turn } })
      this.#ids.set(String(value['request_id']), requestId(this.drive, 'interrupt'))
    } else if (value['type'] === 'control_response') this.#reply(value['response'])
  }

  #reply(response: unknown): void {
    if (!isRecord(response)) return
    const { request_id: ask, subtype, response: payload } = response
    const said = isRecord(payload) ? payload : {}
    const reply =
      said['subtype'] === 'mcp_message'
        ? ({ kind: 'client', result: JSON.stringify(said['mcp_response']) } as const)
        : ({ kind: 'approval', option: subtype === 'success' ? String(said['behavior']) : 'deny' } as const)
    this.drive.link.encode({ exchange: 'r', type: 'ask-reply', target: 'running', ask: String(ask), reply })
  }

  #out(line: string): void {
    let sent = line
    for (const [theirs, ours] of this.#ids) {
      if (line.startsWith('{"type":"control_response"')) sent = sent.replace(`"${theirs}"`, `"${ours}"`)
    }
    this.drive.feed(sent)
    if (!this.#busy && this.#waiting.length > 0) this.#prompt(this.#waiting.shift()!)
  }

  #prompt(text: string): void {
    if (this.#busy) {
      this.#waiting.push(text)
      return
    }
    this.started += 1
    this.drive.start(text, { turn: this.#turn })
  }

  get #turn(): string {
    return `t${this.started}`
  }

  get #busy(): boolean {
    return this.ends.length < this.started
  }

  get ends(): TurnEnd[] {
    return this.drive.events.filter((event): event is TurnEnd => event.type === 'turn-end')
  }
}

function replayed(file: string): Replay {
  const scenario = scenarioOf(file)
  const replay = new Replay(scenario)
  replay.run(scenario)
  return replay
}

describe('recordings, read from the CLI', () => {
  for (const scenario of scenarios()) {
    test(scenario.file, () => {
      const replay = new Replay(scenario)
      replay.run(scenario)
      expect(replay.ends.map(({ turn }) => turn)).toEqual(
        Array.from({ length: replay.started }, (_, at) => `t${at + 1}`),
      )
      if (scenario.textMode || scenario.brokenOnPurpose) return
      expect(replay.drive.losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
      expect(replay.drive.faults).toEqual([])
    })
  }

  const lost = 'terminated (cause: UND_ERR_SOCKET: other side closed)'
  const gone = 'before it had answered; see its stderr in the gateway log.'
  const limit = '(--max-session-turns): raise it, or ask for less.'
  const endings: [file: string, outcome: string, detail: string | undefined][] = [
    ['multi-turn', 'completed', undefined],
    ['provider-reasoning-only', 'completed', undefined],
    ['provider-length', 'completed', undefined],
    ['slash-oneshot', 'completed', undefined],
    ['permission-deny', 'completed', undefined],
    ['interrupt-midstream', 'cancelled', undefined],
    ['interrupt-before-first-byte', 'cancelled', undefined],
    ['interrupt-permission', 'cancelled', undefined],
    ['interrupt-tool.v0.15.10', 'cancelled', undefined],
    ['provider-http-400', 'failed', 'provider-error: 400 bad request from fake'],
    ['provider-http-401', 'failed', 'provider-auth: 401 bad key from fake'],
    ['provider-http-500', 'failed', 'provider-down: 500 server exploded (fake)'],
    ['provider-refused', 'failed', 'provider-down: Connection error. (cause: fetch failed)'],
    ['provider-drop', 'failed', `provider-down: ${lost}`],
    ['provider-drop.v0.15.10', 'failed', 'provider-down: terminated (cause: other side closed)'],
    ['provider-sse-error.v0.15.10', 'failed', 'provider-error: error inside the stream (fake)'],
    ['provider-no-finish', 'failed', 'provider-down: Model stream ended without a finish reason.'],
    ['first-unknown-then-user', 'failed', 'internal: Chat not initialized'],
    ['max-session-turns', 'failed', `internal: The agent stopped at its limit of model calls ${limit}`],
    ['unicode-u2028-raw', 'failed', `agent-crashed: The agent exited with code 1 ${gone}`],
    ['signal-sigterm', 'failed', `agent-crashed: The agent exited with code 130 ${gone}`],
    ['interrupt-idle.v0.15.10', 'failed', `agent-crashed: The agent exited with code 0 ${gone}`],
  ]
  test.each(endings)('%s ends %s', (file, outcome, detail) => {
    const end = endOf(replayed(file).drive.events.filter(({ turn }) => turn === null || turn === 't1'))
    expect(end.outcome).toBe(outcome)
    expect(end.fault && `${end.fault.code}: ${end.fault.message}`).toBe(detail)
  })

  const texts: [file: string, text: string][] = [
    // Four of five were kept; the first was taken back.
    ['provider-length', 'This was cut'.repeat(4)],
    ['provider-drop', 'one two '.repeat(4)],
    ['provider-drop-once', 'one second try worked'],
    ['provider-http-400', ''],
    ['provider-no-finish', 'No finish reason'],
    ['partial-reasoning', 'The answer is 42.'],
    ['full-reasoning', 'The answer is 42.'],
    ['tool-yolo', 'I will write.\n\nWrote it.'],
    ['tool-yolo-partial', 'I will write.\n\nWrote it.'],
    ['subagent', 'main is done\n\nmain is done'],
  ]
  test.each(texts)('%s says %j', (file, text) => {
    expect(viewOf(replayed(file), 't1').text).toBe(text)
  })

  test('usage counts up over the session, that of a turn is the difference', () => {
    const totals = (file: string) =>
      replayed(file).drive.events.flatMap((event) =>
        event.type === 'usage' && event.scope === 'turn' ? [event.usage.total] : [],
      )
    expect(totals('multi-turn')).toEqual([18015, 18047, 18080])
    expect(totals('session-2-resume')).toEqual([18054])
    expect(totals('provider-http-400')).toEqual([])
  })

  test('an agent without credentials says why it cannot start', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.feed(...recordedLines(scenarioOf('no-auth-live')).flatMap(({ dir, line }) => (dir === 'out' ? [line] : [])))
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(endOf(drive.events).fault).toMatchObject({ code: 'provider-auth', retryable: false })
  })
})

function viewOf({ drive }: Replay, turn: string): LiveView {
  const view = new LiveView({ turn, session: 's', agent: 'a', at: 0 })
  for (const event of drive.events) if (event.turn === turn) view.apply(event as TurnEvent, 0)
  return view
}

describe('recordings, written to the stand-in', () => {
  for (const scenario of scenarios()) {
    test(scenario.file, () => {
      const front = driveFront(codec, { argv: argsOf(scenario) })
      const answered = new Set<string>()
      const answer = () => {
        const open = front.commands.find(({ type, exchange }) => type === 'turn-start' && !answered.has(exchange))
        if (!open) return false
        answered.add(open.exchange)
        front.play(plainTurn('fine'), open.exchange)
        return true
      }
      for (const { dir, line } of recordedLines(scenario)) {
        if (dir === 'in' && line === '⟨EOF⟩') front.link.decodeEnd!('eof')
        else if (dir === 'in') front.feed(line.replace(/\r?\n$/, ''))
        for (const { exchange, type } of front.commands) {
          if (type === 'query' || type === 'foreign' || type === 'config-set' || type === 'session-clear')
            front.link.encodeLink!({ turn: null, type: 'command-reply', exchange })
        }
        while (answer()) {}
      }
      front.link.decodeEnd!('eof')
      while (answer()) {}
      const starts = front.commands.filter(({ type }) => type === 'turn-start').length
      expect(answered.size).toBe(starts)
      expect(front.exitCode).toBeDefined()
      const results = front.sent.filter((line) => String(line).includes('"type":"result"')).length
      if (front.exitCode === 0 && argsOf(scenario).includes('--input-format')) {
        expect(results).toBe(starts + front.faults.length)
      }
    })
  }

  const codes: [file: string, exitCode: number][] = [
    ['multi-turn', 0],
    ['eof-at-once', 0],
    ['eof-at-once-text', 1],
    ['malformed-not-json', 1],
    ['malformed-array', 1],
    ['malformed-null', 1],
    ['malformed-number', 1],
    ['malformed-truncated-json', 1],
    ['malformed-first-line', 1],
    ['malformed-unknown-type', 0],
    ['malformed-blank-line', 0],
    ['malformed-user-no-message', 0],
    ['malformed-user-message-null', 0],
    ['rfc-in-chat-request', 1],
    ['rfc-in-chat-messages', 1],
    ['rfc-in-control-flat', 0],
    ['input-needs-output', 1],
    ['bad-flag-value', 1],
    ['session-7-bad-id', 1],
    ['crlf-bom', 0],
  ]
  test.each(codes)('%s exits with %i, as the original', (file, exitCode) => {
    const scenario = scenarioOf(file)
    expect(scenario.exitCode).toBe(exitCode)
    const front = driveFront(codec, { argv: argsOf(scenario) })
    for (const { dir, line } of recordedLines(scenario)) {
      if (dir !== 'in' || line === '⟨EOF⟩') continue
      front.feed(line.replace(/\r?\n$/, ''))
      const last = front.commands.at(-1)
      if (last?.type === 'turn-start') front.play(plainTurn('fine'), last.exchange)
    }
    front.link.decodeEnd!('eof')
    expect(front.exitCode).toBe(exitCode)
  })
})
