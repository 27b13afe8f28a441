import {
  allWords,
  type ClientRule,
  type ClientRun,
  every,
  expectThat,
  isLeaving,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectsOf,
  waits,
} from '../../kit/index.ts'

const REQUEST = '5.1 Request'
const OBJECTS = 'openharness.client.5.1.envelope'

const envelopes = (run: ClientRun): JsonRecord[] => objectsOf({ lines: allWords(run) })
const contexts = (run: ClientRun): JsonRecord[] =>
  envelopes(run).map((envelope) => objectIn(objectIn(envelope, 'request'), 'context'))

/** The rules for shells. */
export const clientRules: readonly ClientRule[] = [
  {
    id: OBJECTS,
    section: REQUEST,
    expects: 'a request is one JSON object with an object `request`',
    judge: (run) => every(allWords(run), 'request', ({ object }) => isObject(object?.['request'])),
  },
  {
    id: 'openharness.client.5.1.http',
    section: REQUEST,
    expects: 'over HTTP it is a POST of application/json',
    judge: ({ visits }) =>
      every(
        visits.flatMap(({ request }) => (request ? [request] : [])),
        'HTTP request',
        ({ method, headers }) => method === 'POST' && /^application\/json\b/.test(headers['content-type'] ?? ''),
      ),
  },
  {
    id: 'openharness.client.3.version',
    section: '3 Versioning',
    expects: 'protocol_version has three numbers',
    needs: [OBJECTS],
    judge: (run) =>
      every(envelopes(run), 'request', ({ protocol_version }) => /^\d+\.\d+\.\d+/.test(String(protocol_version))),
  },
  {
    id: 'openharness.client.5.1.ids',
    section: REQUEST,
    expects: 'request_id and correlation_id, when they are there, are strings that are not empty',
    needs: [OBJECTS],
    judge: (run) =>
      every(
        envelopes(run),
        'request',
        ({ request_id = 'none', correlation_id = 'none' }) => isText(request_id) && isText(correlation_id),
      ),
  },
  {
    id: 'openharness.client.5.1.unique-ids',
    section: REQUEST,
    expects: 'no two requests have the same request_id',
    needs: [OBJECTS],
    lenient: true,
    judge: (run) => {
      const ids = envelopes(run).flatMap(({ request_id }) => (isText(request_id) ? [request_id] : []))
      return expectThat(new Set(ids).size === ids.length, JSON.stringify(ids))
    },
  },
  {
    id: 'openharness.client.5.3.capabilities',
    section: '5.3 Capabilities',
    expects: 'capabilities, when they are there, are an object',
    needs: [OBJECTS],
    judge: (run) => every(envelopes(run), 'request', ({ capabilities = {} }) => isObject(capabilities)),
  },
  {
    id: 'openharness.client.9.1.attachments',
    section: '9.1 Attachments',
    expects: 'attachments are a list of references (ref_id, uri or asset_id), never bytes',
    needs: [OBJECTS],
    judge: (run) =>
      every(
        contexts(run),
        'request',
        ({ attachments = [] }) =>
          Array.isArray(attachments) &&
          attachments.every(
            (one) =>
              isObject(one) &&
              [one['ref_id'], one['uri'], one['asset_id']].some(isText) &&
              !String(one['uri']).startsWith('data:'),
          ),
      ),
  },
  {
    id: 'openharness.client.8.privacy-tier',
    section: '8 Privacy',
    expects: 'environment_state.privacy_tier, when it is there, is public, restricted or secret',
    needs: [OBJECTS],
    judge: (run) =>
      every(contexts(run), 'request', (context) => {
        const { privacy_tier = 'public' } = objectIn(context, 'environment_state')
        return ['public', 'restricted', 'secret'].includes(String(privacy_tier))
      }),
  },
  {
    id: 'openharness.client.5.2.waits',
    section: '5.2 Response',
    expects: 'the shell waits for the answer',
    judge: (run) => waits(run, (text) => text.includes('"response"'), isLeaving),
  },
  {
    id: 'openharness.client.5.2.ends',
    section: '5.2 Response',
    expects: 'the shell ends by itself when it has its answer',
    judge: ({ end }) => expectThat(end === 'exited', 'it did not end by itself'),
  },
]
