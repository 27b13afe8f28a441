import {
  append,
  type Fault,
  type JsonText,
  type Loss,
  lossSummary,
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
  const { background, metadata, others } = echoed(echo)
  const created = Math.floor((echo.at ?? of.startedAt) / 1000)
  const error = fault ? errorOf(fault) : 'null'
  const details = incomplete === undefined ? 'null' : `{"reason":${quote(incomplete)}}`
  const head = `"id":${quote(responseId(ref))},"object":"response","created_at":${created},"status":"${status}"`
  const end = `"background":${background},"error":${error},"incomplete_details":${details}`
  const said = `"model":${quote(of.agent)},"output":${output},"conversation":{"id":${quote(of.session)}}`
  const counts = usage === undefined ? 'null' : usageJson(usage)
  return `{${head},${end},${said},${others},"usage":${counts},"metadata":${metadataJson(metadata, losses)}}`
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
  return summary === undefined ? own : append(own, `{"turnpike_loss":${quote(summary)}}`)
}
