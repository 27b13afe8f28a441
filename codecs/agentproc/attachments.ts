import { dropped, type Report, weakened } from '../../src/codec-kit/index.ts'
import type { Part } from '../../src/model/index.ts'

/** A part that is a file of some kind. */
export type FilePart = Extract<Part, { type: 'image' | 'audio' | 'file' }>

/** True for the parts that are sent as attachments. */
export function isFile(part: Part): part is FilePart {
  return part.type === 'image' || part.type === 'audio' || part.type === 'file'
}

/** The URL of a file. Bytes become a `data:` URL, a loss; a file with neither has no place (undefined). */
export function urlOf(part: FilePart, report: Report): string | undefined {
  const item = `part.${part.type}` as const
  if (part.url !== undefined) return part.url
  if (part.base64 === undefined) {
    report(dropped(item))
    return undefined
  }
  report(weakened(item, 'url'))
  return `data:${part.mime ?? 'application/octet-stream'};base64,${part.base64}`
}

/** There is no video part: a file with a media range says the same, both ways. */
export const ANY_VIDEO = 'video/*'

/** True for a file that is a video. */
export function isVideo(part: FilePart): boolean {
  return part.type === 'file' && part.mime?.startsWith('video/') === true
}
