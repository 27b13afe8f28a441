import * as v from 'valibot'
import { codeOfProviderText, keysOf, type Report, readCounts, weakened } from '../../../src/codec-kit/index.ts'
import {
  append,
  beginningOf,
  type ErrorCode,
  type Ext,
  type Fault,
  fault,
  isRecord,
  type JsonText,
  member,
  object,
  rest,
  type Usage,
} from '../../../src/model/index.ts'
import { canonicalCode } from '../errors.ts'
import { errorSchema, finalSchema, flatSchema } from '../schema.ts'
import { haltReason, isBlank, isPlaceholder } from '../text.ts'
import { toExt } from '../wire.ts'

/** The agent's end of a run, in either shape: a success has no fault. */
export interface AgentAnswer {
  fault: Fault | undefined
  text: string
  usage?: Usage | undefined
  estimated?: boolean
  ext?: Ext | undefined
}

const COUNTS = { input: 'prompt_tokens', output: 'completion_tokens', total: 'total_tokens' } as const

const HEAD_KEYS = ['protocol_version', 'type', 'request_id', 'session_id', 'ts_ms', 'latency_ms', 'replayed'] as const
/** Members of an answer in either shape. */
const ANSWER_KEYS: ReadonlySet<string> = new Set([...HEAD_KEYS, ...keysOf(flatSchema), ...keysOf(finalSchema)])
const USAGE_KEYS: ReadonlySet<string> = new Set([...Object.values(COUNTS), 'estimated'])
const ERROR_KEYS: ReadonlySet<string> = new Set(['code', 'message', 'retryable', 'http_status'])

/** The longest message of an agent that is passed on, in UTF-16 units. */
const MESSAGE_LENGTH = 1000

const NO_ANSWER = fault(
  'protocol-violation',
  'The agent wrote an answer line that is not of Zene Host Protocol v1; check its version.',
)

/** Reads a flat answer or a `final` line; a line that is no well-formed one is a protocol violation. */
export function readAnswer(line: string, json: Record<string, unknown>, report: Report): AgentAnswer {
  const read = json['type'] === 'final' ? readFinal(line, json, report) : readFlat(json, report)
  if (!read || (!read.fault && typeof read.text !== 'string')) return { fault: NO_ANSWER, text: '' }
  const text = read.text ?? ''
  const pretended = read.fault ? undefined : pretence(text)
  return {
    fault: read.fault ?? pretended,
    text: pretended ? '' : text,
    ...readUsage(json['usage'], report),
    ext: answerExt(line),
  }
}

/** Reads an `error` line. */
export function readError(line: string, json: Record<string, unknown>, report: Report): AgentAnswer {
  const read = v.safeParse(errorSchema, json)
  if (!read.success) return { fault: NO_ANSWER, text: '' }
  return { fault: faultOf(read.output.error, report, member(line, 'error')), text: '', ext: answerExt(line) }
}

interface Read {
  fault: Fault | undefined
  text: string | null | undefined
}

function readFlat(json: Record<string, unknown>, report: Report): Read | undefined {
  const read = v.safeParse(flatSchema, json)
  if (!read.success) return undefined
  const { ok, text, error_code, error_message } = read.output
  return { text, fault: ok ? undefined : faultOf({ code: error_code ?? 'INTERNAL', message: error_message }, report) }
}

const STATUS_CODES = { ERROR: 'INTERNAL', TIMEOUT: 'TIMEOUT', CANCELED: 'CANCELED' } as const

function readFinal(line: string, json: Record<string, unknown>, report: Report): Read | undefined {
  const read = v.safeParse(finalSchema, json)
  if (!read.success) return undefined
  const { status, text, error } = read.output
  if (status === 'OK') return { text, fault: undefined }
  return { text, fault: faultOf(error ?? { code: STATUS_CODES[status] }, report, member(line, 'error')) }
}

interface AgentError {
  code: string
  message?: string | null | undefined
  retryable?: boolean | null | undefined
}

/** The canonical fault of the agent's own error, whose message the protocol made for users. */
function faultOf(error: AgentError, report: Report, json?: JsonText): Fault {
  const known = canonicalCode(error.code)
  if (!known) report(weakened('turn-end', 'error_code', 'unknown'))
  const said = error.message ?? ''
  // Agents use INTERNAL for everything that the protocol has no code for, including failures of their provider.
  const code: ErrorCode = known && known !== 'internal' ? known : (codeOfProviderText(said) ?? 'internal')
  const ext = toExt(json && rest(json, ERROR_KEYS))
  return fault(code, beginningOf(said, MESSAGE_LENGTH) || `The agent answered with the error ${code}.`, {
    ...(typeof error.retryable === 'boolean' && { retryable: error.retryable }),
    ...(ext && { ext }),
  })
}

/** The messages for a plan that its provider's failure halted. They replace a reason that may quote anything. */
const HALTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  'provider-auth': 'The model provider of the agent refused its credentials.',
  'provider-rate-limit': 'The model provider of the agent limits its rate; try again later.',
  'provider-down': 'The model provider of the agent failed.',
  'provider-error': 'The model provider of the agent refused the request.',
  'payload-too-large':
    'The model provider of the agent refused the request as too large; send less, or begin a new session.',
}

/** The failure that an OK hides: no text, a sentence that stands for a result, a plan that was halted. */
function pretence(text: string): Fault | undefined {
  if (isBlank(text)) return fault('internal', 'The agent answered without a text.')
  if (isPlaceholder(text)) {
    const message =
      'The agent did nothing for this prompt: a plan of its session, or a failed planner, stands in the way.'
    return fault('internal', message, { retry: 'fresh-session' })
  }
  const reason = haltReason(text)
  if (reason === undefined) return undefined
  const code = codeOfProviderText(reason) ?? 'internal'
  return fault(code, HALTS[code] ?? 'The agent halted its plan at a task that failed; see its own log.')
}

/** The token counts. Zero is what the program says when it does not know. */
function readUsage(json: unknown, report: Report): Pick<AgentAnswer, 'usage' | 'estimated'> {
  const usage = readCounts(json, COUNTS, report)
  for (const key of Object.keys(COUNTS) as (keyof typeof COUNTS)[]) if (usage[key] === 0) delete usage[key]
  const estimated = isRecord(json) && json['estimated'] === true
  return { usage: Object.keys(usage).length > 0 ? usage : undefined, estimated }
}

/** Unknown members of the answer and of its usage, as one object. */
function answerExt(line: string): Ext | undefined {
  const top = rest(line, ANSWER_KEYS)
  const raw = member(line, 'usage')
  const usage = raw && rest(raw, USAGE_KEYS)
  const inner = usage && object({ usage })
  return toExt(top ? append(top, inner) : inner)
}
