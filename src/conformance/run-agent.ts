import { randomUUID } from 'node:crypto'
import type { Backend, Call, CallEnd, CallHandle, CallHead } from '../contract/index.ts'
import type { Fault } from '../model/index.ts'
import { filled } from './fill.ts'
import type { AgentRun, Scenario, ScenarioStep, SeenLine, Suite } from './kit/index.ts'
import { LineReader } from './lines.ts'

/** The command or URL of the agent under test. */
export type Target = { command: string; args: readonly string[]; cwd: string } | { url: string }

/** The parameters of a scenario's run. */
export interface AgentOptions {
  readonly suite: Pick<Suite, 'framing' | 'http' | 'values'>
  /** The time limit for every awaited answer, and for the agent's end, in milliseconds. */
  readonly timeoutMs: number
  /** The caller's environment: an agent under test gets all of it, except variables of turns. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>
  /** Values of placeholders that the caller gives, instead of what the agent says. */
  readonly values?: Readonly<Record<string, string>>
}

/** The steps of a run, and its agent. */
interface Script {
  readonly scenario: Scenario
  readonly target: Target
  readonly options: AgentOptions
  readonly earlier: readonly AgentRun[]
  readonly steps: readonly ScenarioStep[]
}

/** The longest wait for the end of a program that already missed an answer, in milliseconds. */
const SHORT_MS = 1_000

/** Runs one scenario with an agent. The second value is the fault of an agent that could not be started. */
export async function runScenario(
  scenario: Scenario,
  target: Target,
  options: AgentOptions,
  earlier: readonly AgentRun[],
): Promise<{ run: AgentRun; fault?: Fault }> {
  const backend = await backendOf(target, scenario, options)
  const steps = typeof scenario.steps === 'function' ? scenario.steps(earlier) : scenario.steps
  const session = new Session({ scenario, target, options, earlier, steps })
  session.start(backend)
  const end = await session.play()
  await backend.close(0)
  const run = session.run(end)
  return { run, ...(end.why === 'failed' && end.fault && { fault: end.fault }) }
}

const JSON_BODY = { 'content-type': 'application/json' }

/** Loaded on demand, because the stand-in of a client under test does not need it. */
async function backendOf(target: Target, scenario: Scenario, { hostEnv, suite }: AgentOptions): Promise<Backend> {
  const { httpBackend, processBackend } = await import('../backends/index.ts')
  if ('url' in target) {
    const headers = suite.http ? suite.http.headers(hostEnv) : {}
    return httpBackend({ url: target.url, headers: { ...JSON_BODY, ...headers, ...scenario.headers } })
  }
  return processBackend({ ...target, env: {}, inherit: Object.keys(hostEnv), hostEnv })
}

/** One run: its wire, its output, and the waiting steps. */
class Session {
  readonly #script: Script
  readonly #reader: LineReader
  readonly #id = randomUUID().slice(0, 8)
  readonly #seen = new SeenLines()
  readonly #ended: Promise<CallEnd>
  #handle!: CallHandle
  #onEnd!: (end: CallEnd) => void
  #head: CallHead | undefined
  #end: CallEnd | undefined
  #step = 0
  #hung = false

  constructor(script: Script) {
    this.#script = script
    this.#reader = new LineReader(
      script.scenario.framing ?? script.options.suite.framing,
      () => this.#step,
      (line) => this.#take(line),
    )
    this.#ended = new Promise((resolve) => {
      this.#onEnd = resolve
    })
  }

  start(backend: Backend): void {
    const env = this.#script.scenario.env?.(this.#script.earlier) ?? {}
    this.#handle = backend.open(
      this.#isHttp ? this.#request() : { kind: 'process', env, stdin: 'open' },
      {
        head: (head) => {
          this.#head = head
        },
        data: (text) => this.#reader.push(text),
        end: (end) => this.#finish(end),
      },
      {},
    )
  }

  get #isHttp(): boolean {
    return 'url' in this.#script.target
  }

  #request(): Extract<Call, { kind: 'http' }> {
    const { scenario, options, steps, earlier } = this.#script
    const { method = 'POST', path = options.suite.http ? options.suite.http.path : '' } = scenario
    const own = typeof path === 'function' ? path(earlier) : path
    const body = steps.map((step) => ('write' in step ? this.#text(step.write) : '')).join('')
    return { kind: 'http', method, path: this.#text(own, encodeURIComponent), body, answer: 'body' }
  }

  /** Does the steps, then waits for the end. */
  async play(): Promise<CallEnd> {
    const { steps, options } = this.#script
    let isLate = false
    for (const step of steps) {
      if (this.#end) break
      if ('write' in step) this.#handle.write(this.#text(step.write))
      else if ('bytes' in step) this.#handle.write(this.#bytes(step.bytes))
      else if ('pause' in step) await this.#pause(step.pause)
      else if ('end' in step) this.#handle.endInput()
      else if ('terminate' in step) this.#handle.stop('cancelled', options.timeoutMs)
      else if (!isLate) isLate = !(await this.#seen.until(step.until, options.timeoutMs))
      this.#step += 1
    }
    if (isLate) this.#handle.endInput()
    const patience = isLate ? Math.min(SHORT_MS, options.timeoutMs) : options.timeoutMs
    const timer = setTimeout(() => {
      this.#hung = true
      this.#handle.stop('timeout', 0)
    }, patience)
    // A program that was told to stop has its own time limit, after which it is killed.
    if (steps.some((step) => 'terminate' in step)) clearTimeout(timer)
    const end = await this.#ended
    clearTimeout(timer)
    return end
  }

  run(end: CallEnd): AgentRun {
    const hung = this.#hung || end.signal === 'SIGKILL'
    return {
      scenario: this.#script.scenario.name,
      id: this.#id,
      transport: this.#isHttp ? 'http' : 'stdio',
      lines: this.#seen.lines,
      output: this.#reader.output,
      end: hung ? 'hung' : end.why === 'failed' ? 'failed' : 'exited',
      ...(end.exitCode !== undefined && { exitCode: end.exitCode }),
      ...(end.signal !== undefined && { signal: end.signal }),
      ...(this.#head && { status: this.#head.status, headers: this.#head.headers }),
    }
  }

  /** Waits for some time, or until the program ends. */
  async #pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([over, this.#ended])
    clearTimeout(timer)
  }

  #text(text: string, encode?: (value: string) => string): string {
    const { options, target, earlier } = this.#script
    const sources = {
      ...('cwd' in target && { folder: target.cwd }),
      values: options.values ?? {},
      found: options.suite.values ?? {},
      earlier,
      id: this.#id,
      lines: this.#seen.lines,
    }
    return text.includes('{{') ? filled(text, sources, encode) : text
  }

  #bytes(bytes: Uint8Array): Uint8Array {
    return Buffer.from(this.#text(Buffer.from(bytes).toString('latin1')), 'latin1')
  }

  #take(line: SeenLine): void {
    this.#seen.add(line)
    const answers = line.object ? (this.#script.scenario.answer?.(line.object) ?? []) : []
    for (const answer of answers) this.#handle.write(answer)
  }

  #finish(end: CallEnd): void {
    this.#reader.end()
    this.#end = end
    this.#seen.close()
    this.#onEnd(end)
  }
}

/** The lines of the agent so far, and the step that waits for one. */
class SeenLines {
  readonly lines: SeenLine[] = []
  /** The number of lines that earlier steps have waited for. */
  #waitedFor = 0
  #wake: (() => void) | undefined
  #isOver = false

  add(line: SeenLine): void {
    this.lines.push(line)
    this.#wake?.()
  }

  /** There are no more. */
  close(): void {
    this.#isOver = true
    this.#wake?.()
  }

  /** Waits for a line after those waited for before; false when the time limit, in milliseconds, came first. */
  async until(isIt: (line: SeenLine) => boolean, timeoutMs: number): Promise<boolean> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#wake?.()
    }, timeoutMs)
    for (;;) {
      const at = this.lines.findIndex((line, index) => index >= this.#waitedFor && isIt(line))
      if (at >= 0) this.#waitedFor = at + 1
      if (at >= 0 || this.#isOver || isLate) break
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    clearTimeout(timer)
    return !isLate
  }
}
