import { codecNames } from '../../codecs/index.ts'
import type { CodecInfo } from '../config/index.ts'
import { type AnyCodec, hasBack } from '../contract/index.ts'
import { loadBuilt } from './build.ts'
import { codecInfos } from './configured.ts'

/** Facts of a codec that are kept, so that a stand-in need not load it before a turn goes to an agent of it. */
export interface CodecFacts {
  dialects: readonly string[]
  silent: boolean
  servers: boolean
  multiplexed: readonly string[]
  /** The dialects that agents speak. */
  backs: readonly string[]
  /** The codec's own keys of an agent, and the options of an agent without any of them. */
  keys: readonly string[]
  plain: unknown
}

/**
 * The facts of a codec; undefined for one that has to be loaded all the same: its agents may have profiles, or it has
 * options that JSON text cannot keep.
 */
export function factsOf(codec: AnyCodec): CodecFacts | undefined {
  const { name, dialects, profile, options } = codec
  const plain = options.schema['~standard'].validate({})
  if (profile || plain instanceof Promise || plain.issues || !isJson(plain.value)) return undefined
  const { silent = false, servers = false, multiplexed = [] } = codecInfos({ [name]: codec })[name]!
  const all = Object.keys(dialects)
  const backs = all.filter((dialect) => hasBack(dialects[dialect]))
  return { dialects: all, silent, servers, multiplexed, backs, keys: options.keys, plain: plain.value }
}

/** True for a value that is the same when it was written as JSON text and read again. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return ['string', 'number', 'boolean'].includes(typeof value)
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  return isPlain && Object.values(value).every(isJson)
}

/** The part of a codec that a configuration needs. The codec is loaded when an agent has options of its own. */
export function lateInfo({ keys, plain, ...facts }: CodecFacts, load: () => AnyCodec): CodecInfo {
  const validate: CodecInfo['options']['schema']['~standard']['validate'] = (value) =>
    Object.keys(value as object).length === 0 ? { value: plain } : load().options.schema['~standard'].validate(value)
  return { ...facts, options: { keys, schema: { '~standard': { version: 1, vendor: 'turnpike', validate } } } }
}

/** In a build: gives the codec of this name, loaded at the first call. */
export function builtCodec(name: string): () => AnyCodec {
  if (!codecNames.includes(name)) throw new Error(`there is no codec ${name}`)
  return () => (loadBuilt(`./codecs-${name}-index.cjs`) as { codec: AnyCodec }).codec
}
