import { isRecord } from '../model/index.ts'
import type { SourceDocument } from './document.ts'
import { reportUnknownKey } from './issues.ts'
import { findProtocol } from './protocol.ts'
import { AGENT_KEYS } from './schema.ts'
import type { CodecInfos } from './types.ts'

/**
 * Reports unknown keys of an agent: those that belong neither to every agent nor to its codec. `entry` is the written
 * value.
 */
export function checkAgentKeys(
  { source, codecs }: { source: SourceDocument; codecs: CodecInfos },
  name: string,
  entry: unknown,
): void {
  if (!isRecord(entry) || typeof entry['protocol'] !== 'string') return
  const path = ['agents', name]
  const protocol = findProtocol(entry['protocol'], codecs, source, [...path, 'protocol'])
  if (!protocol) return
  const known = [...AGENT_KEYS, ...protocol.codec.options.keys]
  for (const key of Object.keys(entry)) {
    if (!known.includes(key)) reportUnknownKey(source, [...path, key], known)
  }
}
