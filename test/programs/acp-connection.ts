/** A connection of the official SDK of the Agent Client Protocol to `turnpike as acp`, whose every message is checked. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { LAUNCHER } from '../kit/gateway.ts'
import { installed } from './kit.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK is installed beside the suite, with types of its own
export type Any = any

export const SDK = '@agentclientprotocol/sdk/dist/v1/acp.js'

interface Schema {
  $defs: Record<string, { 'x-method'?: string }>
}
interface Message {
  id?: unknown
  method?: string
  params?: unknown
  result?: unknown
  error?: unknown
}

/** What an agent may write: the results of requests by their method, and its own requests and notifications. */
class Checker {
  readonly #validate: (definition: string) => (value: unknown) => string
  readonly #byMethod = new Map<string, string[]>()
  readonly #asked = new Map<string, string>()
  readonly wrong: string[] = []

  constructor(Ajv: Any) {
    const schema = JSON.parse(
      readFileSync(installed('@agentclientprotocol/sdk/schema/v1/schema.json'), 'utf8'),
    ) as Schema
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
    ajv.addSchema({ $id: 'acp', ...schema })
    this.#validate = (definition) => {
      const check = ajv.compile({ $ref: `acp#/$defs/${definition}` })
      return (value) => (check(value) ? '' : ajv.errorsText(check.errors))
    }
    for (const [name, { 'x-method': method }] of Object.entries(schema.$defs)) {
      if (method !== undefined) this.#byMethod.set(method, [...(this.#byMethod.get(method) ?? []), name])
    }
  }

  asked(line: string): void {
    const { id, method } = JSON.parse(line) as Message
    if (id !== undefined && method !== undefined) this.#asked.set(JSON.stringify(id), method)
  }

  answered(line: string): void {
    const { id, method, params, result, error } = JSON.parse(line) as Message
    if (method !== undefined) this.#check(line, method, /(Request|Notification)$/, params)
    else if (error !== undefined) this.#note(line, this.#validate('Error')(error))
    else this.#check(line, this.#asked.get(JSON.stringify(id)) ?? '', /Response$/, result)
  }

  #check(line: string, method: string, of: RegExp, value: unknown): void {
    const definition = this.#byMethod.get(method)?.find((name) => of.test(name))
    this.#note(line, definition === undefined ? `no schema for "${method}"` : this.#validate(definition)(value))
  }

  #note(line: string, wrong: string): void {
    if (wrong !== '') this.wrong.push(`${wrong}: ${line}`)
  }
}

/** What the client's user decides, and all that it is shown. */
export interface User {
  /** The option that the user chooses of those that are offered; undefined cancels the question. */
  choose(request: Any): string | undefined
}

/** A client that is connected. */
export interface Connected {
  agent: Any
  updates: Any[]
  /** The text of the answer so far, of a session. */
  text(session: string): string
  /** Waits for an update that a test looks for. */
  update(fits: (update: Any) => boolean): Promise<void>
  /** Ends the connection; resolves with the exit code of the stand-in and every message that was not as its schema says. */
  close(): Promise<{ code: number | null; wrong: string[] }>
}

/** Starts a stand-in for an agent of a configuration and connects the SDK to it. */
export async function connect(config: string, agent: string, user: Partial<User> = {}): Promise<Connected> {
  const [sdk, { default: Ajv }] = await Promise.all([
    import(installed(SDK)) as Any,
    import(installed('ajv/dist/2020.js')) as Any,
  ])
  const child = spawn(LAUNCHER, ['as', 'acp', '--config', config, '--agent', agent], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const checker = new Checker(Ajv)
  const updates: Any[] = []
  const waiting = new Set<() => void>()
  const app = sdk
    .client({ name: 'test' })
    .onNotification('session/update', ({ params }: Any) => {
      updates.push(params)
      for (const look of waiting) look()
    })
    .onRequest('session/request_permission', ({ params }: Any) => {
      const optionId = user.choose?.(params)
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } }
    })
  const connection = app.connect(streamOf(sdk, child, checker))
  return {
    agent: connection.agent,
    updates,
    text: (session) => textOf(updates.filter(({ sessionId }) => sessionId === session)),
    update: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!updates.some(({ update }) => fits(update))) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    async close() {
      child.stdin!.end()
      const [code] = (await once(child, 'exit')) as [number | null]
      return { code, wrong: checker.wrong }
    },
  }
}

function textOf(updates: readonly Any[]): string {
  return updates
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(({ update }) => update.content.text)
    .join('')
}

/** The SDK's stream over the program's pipes; the lines of both are shown to the checker on the way. */
function streamOf(sdk: Any, { stdin, stdout }: ChildProcess, checker: Checker): Any {
  const input = Readable.toWeb(stdout!).pipeThrough(lines((line) => checker.answered(line)) as never)
  const tap = lines((line) => checker.asked(line))
  void tap.readable.pipeTo(Writable.toWeb(stdin!) as never).catch(() => {})
  return sdk.ndJsonStream(tap.writable, input)
}

function lines(take: (line: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true })
      const whole = rest.split('\n')
      rest = whole.pop()!
      for (const line of whole) take(line)
      controller.enqueue(chunk)
    },
  })
}
