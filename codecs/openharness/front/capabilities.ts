import {
  type Denial,
  elements,
  type JsonText,
  type Members,
  object,
  parseObject,
  quote,
} from '../../../src/model/index.ts'
import { at, otherMembers, STREAMING } from '../wire.ts'

const GATEWAY: ReadonlySet<string> = new Set([STREAMING, 'openharness.attachments.upload', 'openharness.ui.approval'])
/** Capabilities that stdio, with one envelope in and one out, cannot offer: events, and answers in the next request. */
const OVER_HTTP: ReadonlySet<string> = new Set([STREAMING, 'openharness.ui.approval'])

/** The state of the capabilities that a shell asked for. */
export interface CapabilityFacts {
  asked: readonly string[]
  /** True when this wire is HTTP. */
  http: boolean
  /** The capabilities that the gateway denied for this turn. */
  denied: readonly Denial[]
  /** The engine's own answer, in the shape of an envelope. */
  own: JsonText | undefined
}

/**
 * Answers every asked capability (section 5.3): the gateway's own by itself, the engine's as the engine answered, and
 * others with a denial. Without a question and without an answer of the engine there are no such members.
 */
export function capabilityMembers({ asked, http, denied, own }: CapabilityFacts): Members {
  const offered = new Map(otherMembers(at(own, 'supported_capabilities'), GATEWAY))
  const denials = new Map<string, JsonText>()
  for (const json of elements(at(own, 'capability_denials') ?? '')) {
    const name = parseObject(json)?.['capability']
    if (typeof name === 'string' && name !== '' && !GATEWAY.has(name)) denials.set(name, denialJson(name, json))
  }
  for (const name of asked) {
    if (GATEWAY.has(name) && (http || !OVER_HTTP.has(name))) offered.set(name, 'true')
    else if (!offered.has(name) && !denials.has(name)) denials.set(name, denialOf(name, 'not_supported'))
  }
  for (const { capability, code } of denied) if (capability !== '') denials.set(capability, denialOf(capability, code))
  if (asked.length === 0 && offered.size === 0 && denials.size === 0) return {}
  for (const name of denials.keys()) offered.delete(name)
  return { supported_capabilities: object(offered), capability_denials: `[${[...denials.values()].join(',')}]` }
}

function denialOf(capability: string, code: string): JsonText {
  return object({ capability: quote(capability), code: quote(code) })
}

/** The engine's own denial without a code or message that is no text. */
function denialJson(capability: string, json: JsonText): JsonText {
  const texts = ['code', 'message'].map((key) => [key, at(json, key)] as const)
  return object(
    { capability: quote(capability) },
    texts.filter(([, raw]) => raw?.startsWith('"')),
    otherMembers(json, new Set(['capability', 'code', 'message'])),
  )
}
