import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { frameDecoder } from '../framing/index.ts'
import type { TurnInfoReply, TurnsReply } from '../model/index.ts'
import { takeNothing, takeOptions } from './arguments.ts'
import { configFile, DEFAULT_CONFIG } from './config-file.ts'
import { gatewayAddress } from './gateway-address.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { heading, row, visible, wireJson } from './tail-rows.ts'
import { TailScreen } from './tail-screen.ts'
import type { GatewayAddress } from './thin.ts'

/** The signals that end the view, and the exit codes for them. */
const SIGNALS = [
  ['SIGINT', 0],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

const PATH = '/v1/turns?follow=1'
/** The longest event of the gateway, which lists all running turns, in characters. */
const FRAME_LIMIT = 64 * 1024 * 1024

/** The longest refusal that is read, in characters. */
const MAX_REFUSAL = 65_536

const FLAGS: ReadonlySet<string> = new Set(['--json', '--failed', '--plain'])

/** The filter of the shown turns. */
interface Filter {
  session?: string
  agent?: string
  failed: boolean
}

/**
 * `turnpike tail`: shows the turns of a running gateway (at TURNPIKE_URL, or on the same configuration file): the
 * running ones, then a line for each change. On a terminal they are on the whole screen, unless `--plain`. Ends when it is interrupted or the gateway stops (exit code 0), or when
 * the gateway goes away (1). Exit code 3 when there is none.
 */
export async function tailCommand(args: string[]): Promise<number> {
  const { options, rest } = takeOptions(args, ['config', 'session', 'agent'])
  takeNothing(rest.filter((argument) => !FLAGS.has(argument)))
  const { session, agent } = options
  const filter: Filter = {
    failed: rest.includes('--failed'),
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
  }
  const file = configFile(options.config) ?? DEFAULT_CONFIG
  const address = gatewayAddress(file)
  if (typeof address === 'string') return complain(address)
  const response = address && (await ask(address))
  if (!response) {
    const start = `${ownCommand()} serve${namingConfig(file)}`
    return complain(`no gateway runs on this configuration, or at TURNPIKE_URL; start it: ${start}`)
  }
  if (response.statusCode !== 200) return complain(refusal(response.statusCode, await messageOf(response)))
  if (process.stdout.isTTY && !rest.includes('--json') && !rest.includes('--plain')) return watch(response, filter)
  const show = rest.includes('--json') ? wireJson : rows()
  return follow(response, (turns) => {
    for (const turn of turns) if (isMeant(turn, filter)) process.stdout.write(show(turn))
  })
}

/** Shows the turns on the whole terminal, until `q`, an interrupt, or the end of the gateway's answer. */
async function watch(response: IncomingMessage, filter: Filter): Promise<number> {
  const { stdin, stdout } = process
  const screen = new TailScreen(stdout, !process.env['NO_COLOR'])
  // The terminal is restored whatever ends this process.
  const restore = (): void => {
    if (stdin.isTTY) stdin.setRawMode(false)
    screen.close()
  }
  process.on('exit', restore)
  const stopped = new Promise<number>((resolve) => {
    for (const [signal, code] of SIGNALS) process.once(signal, () => resolve(code))
    stdin.on('data', (keys: Buffer) => {
      if (/[q\u0003\u0004]/.test(keys.toString())) resolve(0)
    })
  })
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.resume()
  stdout.on('resize', () => screen.draw())
  const code = await Promise.race([
    stopped,
    follow(response, (turns) => screen.show(turns.filter((turn) => isMeant(turn, filter))), restore),
  ])
  restore()
  return code
}

/** The head of the gateway's answer; undefined when there is none. */
async function ask(address: GatewayAddress): Promise<IncomingMessage | undefined> {
  const headers = { accept: 'text/event-stream' }
  if ('socket' in address) {
    const { request } = await import('node:http')
    return answerOf(request({ socketPath: address.socket, path: PATH, headers }))
  }
  const { url, key } = address
  const target = new URL(url)
  const { request } = target.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const options: RequestOptions = {
    path: target.pathname.replace(/\/$/, '') + PATH,
    headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
  }
  return answerOf(request(target, options))
}

function answerOf(request: ClientRequest): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    request.on('response', resolve)
    request.on('error', () => resolve(undefined))
    request.end()
  })
}

/** Reads the gateway's events until it ends them. `over` is called before a reason is told. */
function follow(
  response: IncomingMessage,
  take: (turns: readonly TurnInfoReply[]) => void,
  over: () => void = () => {},
): Promise<number> {
  return new Promise((resolve) => {
    const decoder = frameDecoder('sse', FRAME_LIMIT, {
      frame: (frame) => {
        if (typeof frame === 'string' || frame.event !== 'turns') return
        take((JSON.parse(frame.data) as TurnsReply).turns)
      },
      fault: () => response.destroy(),
    })
    response.setEncoding('utf8').on('data', (text: string) => decoder.push(text))
    response.on('end', () => resolve(0))
    response.on('error', () => {
      over()
      resolve(complain('the gateway went away; start it, then run this again', 1))
    })
    // The reader of the output has gone.
    process.stdout.on('error', () => resolve(0))
  })
}

/** Rows for people, under a heading; a row is only shown again when it has changed. */
function rows(): (turn: TurnInfoReply) => string {
  const colour = process.stdout.isTTY === true && !process.env['NO_COLOR']
  const shown = new Map<string, string>()
  let before = heading()
  return (turn) => {
    const text = row(turn, colour)
    const known = shown.get(turn.turn) === text
    if (turn.state === 'running') shown.set(turn.turn, text)
    else shown.delete(turn.turn)
    if (known) return ''
    const line = before + text
    before = ''
    return line
  }
}

function isMeant(turn: TurnInfoReply, { session, agent, failed }: Filter): boolean {
  if (session !== undefined && turn.session !== session) return false
  if (agent !== undefined && turn.agent !== agent) return false
  return !failed || turn.state === 'failed'
}

function refusal(status: number | undefined, message: string | undefined): string {
  if (status === 401) return 'the gateway requires a key: set TURNPIKE_KEY'
  return `the gateway answered with status ${status}${message === undefined ? '; is it an older one?' : `: ${message}`}`
}

/** The message of a gateway's refusal; undefined when it has none. */
async function messageOf(response: IncomingMessage): Promise<string | undefined> {
  let text = ''
  try {
    for await (const piece of response.setEncoding('utf8')) text = (text + piece).slice(0, MAX_REFUSAL)
    const { fault, error } = JSON.parse(text) as { fault?: { message?: unknown }; error?: { message?: unknown } }
    const message = fault?.message ?? error?.message
    return typeof message === 'string' ? visible(message) : undefined
  } catch {
    return undefined
  }
}

function complain(text: string, exitCode = 3): number {
  process.stderr.write(`turnpike: ${text}\n`)
  return exitCode
}
