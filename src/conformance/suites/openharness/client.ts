import {
  allWords,
  areUnique,
  type ClientRun,
  every,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  rulesForClients,
  saidBy,
  waits,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const contexts = (run: ClientRun): JsonRecord[] =>
  saidBy(run).map((envelope) => objectIn(objectIn(envelope, 'request'), 'context'))

/** The rules for shells. */
export const clientRules = rulesForClients('openharness', SECTIONS, {
  '5.1.envelope': {
    expects: 'a request is one JSON object with an object `request`',
    judge: (run) => every(allWords(run), 'request', ({ object }) => isObject(object?.['request'])),
  },
  '5.1.http': {
    expects: 'over HTTP it is a POST of application/json',
    judge: ({ visits }) =>
      every(
        visits.flatMap(({ request }) => (request ? [request] : [])),
        'HTTP request',
        ({ method, headers }) => method === 'POST' && /^application\/json\b/.test(headers['content-type'] ?? ''),
      ),
  },
  '3.version': {
    expects: 'protocol_version has three numbers',
    needs: ['5.1.envelope'],
    judge: (run) =>
      every(saidBy(run), 'request', ({ protocol_version }) => /^\d+\.\d+\.\d+/.test(String(protocol_version))),
  },
  '5.1.ids': {
    expects: 'request_id and correlation_id, when they are there, are strings that are not empty',
    needs: ['5.1.envelope'],
    judge: (run) =>
      every(
        saidBy(run),
        'request',
        ({ request_id = 'none', correlation_id = 'none' }) => isText(request_id) && isText(correlation_id),
      ),
  },
  '5.1.unique-ids': {
    expects: 'no two requests have the same request_id',
    needs: ['5.1.envelope'],
    lenient: true,
    judge: (run) => {
      const ids = saidBy(run).flatMap(({ request_id }) => (isText(request_id) ? [request_id] : []))
      return expectThat(areUnique(ids), JSON.stringify(ids))
    },
  },
  '5.3.capabilities': {
    expects: 'capabilities, when they are there, are an object',
    needs: ['5.1.envelope'],
    judge: (run) => every(saidBy(run), 'request', ({ capabilities = {} }) => isObject(capabilities)),
  },
  '9.1.attachments': {
    expects: 'attachments are a list of references (ref_id, uri or asset_id), never bytes',
    needs: ['5.1.envelope'],
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
  '8.privacy-tier': {
    expects: 'environment_state.privacy_tier, when it is there, is public, restricted or secret',
    needs: ['5.1.envelope'],
    judge: (run) =>
      every(contexts(run), 'request', (context) => {
        const { privacy_tier = 'public' } = objectIn(context, 'environment_state')
        return ['public', 'restricted', 'secret'].includes(String(privacy_tier))
      }),
  },
  '5.2.waits': {
    expects: 'the shell waits for the answer',
    judge: (run) => waits(run, (text) => text.includes('"response"')),
  },
  '5.2.ends': {
    expects: 'the shell ends by itself when it has its answer',
    judge: ({ end }) => expectThat(end === 'exited', 'it did not end by itself'),
  },
})
