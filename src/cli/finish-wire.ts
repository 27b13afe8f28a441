import { loadCodec } from '../../codecs/index.ts'
import type { Streams } from '../stdio.ts'
import { type FinishedWire, finishWire } from '../translate/index.ts'
import type { ThinOptions } from './thin.ts'
import { Wiretap } from './wiretap.ts'

/** The longest wait for the request of a client that will be refused, in milliseconds. */
const PATIENCE_MS = 15_000
/** The same for a process with many requests, whose client may send none for a long time. */
const SHORT_PATIENCE_MS = 2_000
/** The time for which a request from arguments or variables waits for standard input to change it, in milliseconds. */
const PEEK_MS = 300

/** The reason why a stand-in cannot serve its client. */
export interface Refusal {
  /** For the client. */
  message: string
  /** For standard error of a process with many requests: the same, with all details. */
  detail?: string
}

const GONE = 'The gateway went away before it had answered; send the request again.'
const GONE_IDLE = 'The gateway went away while nothing waited for its answer; start this program again to go on.'

/**
 * Finishes the wire of a stand-in whose gateway went away: ends everything that is open, in the client's own protocol.
 * Returns the exit code.
 */
export async function finishClientWire(
  options: ThinOptions,
  heard: Wiretap,
  { stdout, stderr }: Streams,
): Promise<number> {
  const { out, warned, exitCode } = await finish(options, heard, {
    code: 'agent-unavailable',
    message: GONE,
    written: true,
    now: Date.now(),
  })
  stdout.write(out)
  // Whatever waited has its end in what was written.
  const said = out === '' ? GONE_IDLE : GONE
  for (const line of exitCode === undefined ? [`turnpike: ${said}`] : warned) stderr.write(`${line}\n`)
  return exitCode ?? 1
}

/**
 * Refuses a client: writes the reason to standard error, and in the client's own protocol as the answer to the first
 * request. Returns the exit code.
 */
export async function refuse(
  options: ThinOptions,
  { message: reason, detail = reason }: Refusal,
  streams: Streams,
): Promise<number> {
  const { oneShot = false, exit } = options.facts
  const message = `turnpike: ${reason}`
  const patienceMs = oneShot ? PATIENCE_MS : SHORT_PATIENCE_MS
  // A client with many requests may wait for output first; clients with one request compare stderr with the answer.
  if (!oneShot) streams.stderr.write(`turnpike: ${detail}\n`)
  const { exitCode } = await answerOne(options, message, streams, patienceMs)
  if (oneShot) streams.stderr.write(`${message}\n`)
  return exit?.configuration ?? exitCode ?? 3
}

/**
 * Writes the output that the client's front gives without an agent, and answers the first request that needs one.
 * Resolves then, or when there is none in time.
 */
function answerOne(
  options: ThinOptions,
  message: string,
  { stdin, stdout }: Streams,
  patienceMs: number,
): Promise<FinishedWire> {
  const heard = new Wiretap()
  const began = Date.now()
  let said = 0
  return new Promise((resolve) => {
    const look = async (over: boolean): Promise<void> => {
      const finished = await finish(options, heard, { code: 'internal', message, written: false, now: began })
      stdout.write(finished.out.slice(said))
      said = finished.out.length
      if (!over && !finished.ended) return
      clearTimeout(patience)
      clearTimeout(peek)
      resolve(finished)
    }
    const peek = setTimeout(() => void look(false), PEEK_MS)
    const end = (): void => {
      heard.client(undefined)
      void look(true)
    }
    const patience = setTimeout(() => void look(true), patienceMs)
    stdin.setEncoding('utf8')
    stdin.on('data', (text) => {
      clearTimeout(peek)
      heard.client(String(text))
      void look(false)
    })
    stdin.on('end', end)
    stdin.on('error', end)
  })
}

/** The end of a wire. */
interface Ending {
  code: 'agent-unavailable' | 'internal'
  message: string
  /** The client has the output so far. */
  written: boolean
  /** The time, in milliseconds since the epoch. */
  now: number
}

/** The rest of the wire; empty when the codec is not available, or the wire was too long to record. */
async function finish(
  { protocol, argv, env }: ThinOptions,
  { steps, link }: Wiretap,
  { code, message, ...how }: Ending,
): Promise<FinishedWire> {
  const codec = await loadCodec(protocol)
  const checked = await codec?.options.schema['~standard'].validate({})
  if (!codec || !steps || !checked || checked.issues) return { out: '', warned: [], ended: false }
  return finishWire({ codec, options: checked.value, argv, env, steps, link, ...how }, code, message)
}
