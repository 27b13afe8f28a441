import { type AgentRun, bodyOf, type JsonRecord, objectIn, recordsIn, streamed } from '../../../kit/index.ts'
/** The events that end a stream. */
export const ENDS: readonly string[] = ['response.completed', 'response.failed', 'response.incomplete', 'error']

/** The items of a whole answer, of this type. */
export function itemsOf(run: AgentRun, type: string): JsonRecord[] {
  return recordsIn(bodyOf(run), 'output').filter((item) => item['type'] === type)
}

/** The parts of the messages of a response. */
export function partsIn(items: readonly JsonRecord[]): JsonRecord[] {
  return items.filter(({ type }) => type === 'message').flatMap((item) => recordsIn(item, 'content'))
}

/** The items of a stream that are done, in order. */
export function doneItems(run: AgentRun): JsonRecord[] {
  return streamed(run, 'response.output_item.done').map((event) => objectIn(event, 'item'))
}

/** The event that ends a stream; an empty object when none does. */
export function endOf(run: AgentRun): JsonRecord {
  return streamed(run, ...ENDS)[0] ?? {}
}

/** The deltas of this type joined, by item and part. */
export function joined(run: AgentRun, type: string): Map<string, string> {
  const texts = new Map<string, string>()
  for (const event of streamed(run, type)) {
    const key = placeOf(event)
    texts.set(key, (texts.get(key) ?? '') + String(event['delta']))
  }
  return texts
}

/** The item and the part that an event is about. */
export function placeOf({ item_id, output_index, content_index }: JsonRecord): string {
  return [item_id, output_index, content_index].map(String).join()
}
