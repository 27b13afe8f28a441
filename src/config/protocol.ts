import { type Path, suggest } from './errors.ts'
import type { Source } from './source.ts'
import type { CodecInfo, CodecInfos } from './types.ts'

/** A codec and one of its dialects. */
export interface Protocol {
  name: string
  dialect: string
  codec: CodecInfo
}

/**
 * The codec and dialect that a text names: `name`, `name@dialect`, or a dialect that only one codec has. An unknown
 * name is reported at `path`.
 */
export function findProtocol(text: string, codecs: CodecInfos, source: Source, path: Path): Protocol | undefined {
  const [name, dialect] = split(text)
  const codec = Object.hasOwn(codecs, name) ? codecs[name]! : undefined
  if (!codec) {
    const owners = Object.entries(codecs).filter(([, { dialects }]) => dialects.includes(text))
    if (owners.length === 1) return { name: owners[0]![0], dialect: text, codec: owners[0]![1] }
    source.report(path, `unknown protocol "${split(source.written(path))[0]}"`, suggest(name, Object.keys(codecs)))
    return undefined
  }
  if (dialect === undefined) return { name, dialect: codec.dialects[0]!, codec }
  if (codec.dialects.includes(dialect)) return { name, dialect, codec }
  const written = source.written(path)
  source.report(path, `${name} has no dialect "${split(written)[1] ?? written}"`, suggest(dialect, codec.dialects))
  return undefined
}

function split(text: string): [name: string, dialect?: string] {
  const at = text.indexOf('@')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
