import { every, expectThat, objectsOf, wordsOf } from './judges.ts'
import type { ClientRow } from './rules.ts'
import type { ClientRun, JsonRecord, Verdict, Visit } from './suite.ts'

/** The JSON objects that a client has posted to paths with this end. */
export function sayings({ visits }: ClientRun, path: string): JsonRecord[] {
  return objectsOf({ lines: visits.filter((visit) => isOn(visit, path)).flatMap(wordsOf) })
}

/** Judges that a client posts JSON to paths with this end. */
export function postsJson({ visits }: ClientRun, path: string): Verdict {
  const requests = visits.flatMap(({ request }) => (request && request.method !== 'GET' ? [request] : []))
  return every(
    requests,
    'request with a body',
    ({ method, path: asked, headers }) =>
      method === 'POST' &&
      asked.split('?')[0]!.endsWith(path) &&
      /^application\/json\b/.test(headers['content-type'] ?? ''),
  )
}

function isOn({ request }: Visit, path: string): boolean {
  return request?.path.split('?')[0]?.endsWith(path) === true
}

/** The rule that a client ends by itself. */
export const endsByItself: ClientRow = {
  expects: 'the client ends by itself when it has its answer',
  judge: ({ end }) => expectThat(end === 'exited', 'it did not end by itself'),
}
