import {
  type Fault,
  type JsonText,
  type Loss,
  lossSummary,
  members,
  object,
  quote,
  type TurnView,
  type Usage,
} from '../../../../src/model/index.ts'
import { errors } from '../../errors.ts'
import { type ResponseRef, responseId } from '../ids.ts'
import { usageJson } from '../usage.ts'
import { type Echo, echoed } from './echo.ts'

/** The state of a response. */
export type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'

/** The response that is written, and what it repeats of its request. */
export interface Envelope {
  ref: ResponseRef
  echo: Echo
}

/** The fields of a response that come neither from its request nor from its turn. */
export interface ResponseState {
  status: Status
  output: JsonText
  /** `incomplete_details.reason`. */
  incomplete?: string | undefined
  fault?: Fault
  usage?: Usage | undefined
  losses?: readonly Loss[]
}

/** The turn of a response, as far as its answer repeats it. */
export type Of = Pick<TurnView, 'session' | 'agent' | 'startedAt'>

/** A response object. Members that a client reads are always there. */
export function responseJson({ ref, echo }: Envelope, of: Of, state: ResponseState): JsonText {
  const { status, output, incomplete, fault, usage, losses = [] } = state
  const { background, metadata, ...repeated } = echoed(echo)
  return object([
    ['id', quote(responseId(ref))],
    ['object', '"response"'],
    ['created_at', String(Math.floor((echo.at ?? of.startedAt) / 1000))],
    ['status', quote(status)],
    ['background', background],
    ['error', fault ? errorOf(fault) : 'null'],
    ['incomplete_details', incomplete === undefined ? 'null' : `{"reason":${quote(incomplete)}}`],
    ['model', quote(of.agent)],
    ['output', output],
    ['conversation', `{"id":${quote(of.session)}}`],
    ...Object.entries(repeated),
    ['usage', usage === undefined ? 'null' : usageJson(usage)],
    ['metadata', metadataJson(metadata, losses)],
  ])
}

/** The `error` of a response that failed. */
function errorOf(found: Fault): JsonText {
  return object([
    ['code', quote(errors[found.code].code)],
    ['message', quote(found.message)],
  ])
}

/** The client's metadata, and how much was lost: values are texts. */
function metadataJson(own: JsonText, losses: readonly Loss[]): JsonText {
  const summary = lossSummary(losses)
  return object([...members(own), ...(summary === undefined ? [] : [['turnpike_loss', quote(summary)] as const])])
}
