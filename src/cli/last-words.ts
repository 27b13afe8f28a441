import { loadCodec } from '../../codecs/index.ts'
import type { Streams } from '../stdio.ts'
import { type LastWords, lastWords } from '../translate/index.ts'
import type { ThinOptions } from './thin.ts'
import { Wiretap } from './wiretap.ts'

/** How long a client may take to say what it wants when it cannot have it, in milliseconds. */
const PATIENCE_MS = 15_000
/** The same of one that keeps its process for many requests: it may have none for a long time. */
const SHORT_PATIENCE_MS = 2_000
/** How long what was asked with arguments or variables waits for standard input to say something else. */
const PEEK_MS = 300

/** Why a stand-in cannot do its work. */
export interface Refusal {
  /** For the client. */
  told: string
  /** For who reads standard error of a process that is kept for many requests: the same, with all that is known. */
  detail?: string
}

const GONE = 'The gateway went away before it had answered; send the request again.'

/**
 * Says what a stand-in still has to say when its gateway went away, in its client's own protocol: an end for everything
 * that is open. Returns the exit code.
 */
export async function sayLastWords(options: ThinOptions, heard: Wiretap, { stdout, stderr }: Streams): Promise<number> {
  const { out, exitCode } = await wordsOf(options, heard, {
    code: 'agent-unavailable',
    message: GONE,
    written: true,
    now: Date.now(),
  })
  stdout.write(out)
  if (exitCode === undefined) stderr.write(`turnpike: ${GONE}\n`)
  return exitCode ?? 1
}

/**
 * A stand-in that cannot do its work says why: on standard error, and in its client's own protocol as the answer to the
 * first request. Returns the exit code.
 */
export async function refuse(
  options: ThinOptions,
  { told, detail = told }: Refusal,
  streams: Streams,
): Promise<number> {
  const { oneShot = false, exit } = options.facts
  const message = `turnpike: ${told}`
  const patienceMs = oneShot ? PATIENCE_MS : SHORT_PATIENCE_MS
  // Who keeps a process may wait for it to say something first; clients of one request compare this with the answer.
  if (!oneShot) streams.stderr.write(`turnpike: ${detail}\n`)
  const { exitCode } = await answerOne(options, message, streams, patienceMs)
  if (oneShot) streams.stderr.write(`${message}\n`)
  return exit?.configuration ?? exitCode ?? 3
}

/**
 * Says what the client's front says by itself, and answers the first request that needs more. Resolves then, or when
 * there is none in time.
 */
function answerOne(
  options: ThinOptions,
  message: string,
  { stdin, stdout }: Streams,
  patienceMs: number,
): Promise<LastWords> {
  const heard = new Wiretap()
  const began = Date.now()
  let said = 0
  return new Promise((resolve) => {
    const look = async (over: boolean): Promise<void> => {
      const words = await wordsOf(options, heard, { code: 'internal', message, written: false, now: began })
      stdout.write(words.out.slice(said))
      said = words.out.length
      if (!over && !words.ended) return
      clearTimeout(patience)
      clearTimeout(peek)
      resolve(words)
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

/** How a wire is ended. */
interface Ending {
  code: 'agent-unavailable' | 'internal'
  message: string
  /** The client has what was written until now. */
  written: boolean
  /** The time, in milliseconds since the epoch. */
  now: number
}

/** What is to be said; nothing when the code for it is not there any more, or too much was said before. */
async function wordsOf(
  { protocol, argv, env }: ThinOptions,
  { steps, link }: Wiretap,
  { code, message, ...how }: Ending,
): Promise<LastWords> {
  const codec = await loadCodec(protocol)
  const checked = await codec?.options.schema['~standard'].validate({})
  if (!codec || !steps || !checked || checked.issues) return { out: '', ended: false }
  return lastWords({ codec, options: checked.value, argv, env, steps, link, ...how }, code, message)
}
