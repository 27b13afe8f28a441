import { dropped, type Report } from '../../../../src/codec-kit/index.ts'
import { object, type Part, quote } from '../../../../src/model/index.ts'
import { type FilePart, isFile, isVideo, urlOf } from '../../attachments.ts'
import type { Attachment } from '../schema.ts'

/** The variables of the attachments among a prompt's parts; none when there are none. */
export function attachmentVariables(parts: readonly Part[], report: Report): Record<string, string> {
  const attachments = parts.filter(isFile).flatMap((part) => attachment(part, report))
  if (attachments.length === 0) return {}
  const list = attachments.map(({ type, url, name }) =>
    object({ type: quote(type), url: quote(url), name: quote(name) }),
  )
  const found: Record<string, string> = { AGENT_ATTACHMENTS: `[${list.join(',')}]` }
  for (const [type, variable] of [
    ['image', 'AGENT_IMAGE_URL'],
    ['file', 'AGENT_FILE_URL'],
  ] as const) {
    const [only, ...others] = attachments.filter((one) => one.type === type)
    if (only && others.length === 0) found[variable] = only.url
  }
  return found
}

/** A media type has no place besides a URL; a `data:` URL holds it. */
function attachment(part: FilePart, report: Report): Attachment[] {
  const url = urlOf(part, report)
  if (url === undefined) return []
  if (part.url !== undefined && part.mime !== undefined && !isVideo(part)) {
    report(dropped(`part.${part.type}`, 'mime'))
  }
  return [{ type: isVideo(part) ? 'video' : part.type, url, name: part.name ?? '' }]
}
