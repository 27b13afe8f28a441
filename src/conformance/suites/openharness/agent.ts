import {
  type AgentRow,
  type AgentRun,
  every,
  exactly,
  exits,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectsOf,
  rulesForAgents,
  show,
  skip,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

/** Sent as a token, and never to be seen again. */
export const SECRET = 'conformance-secret-token'

const BODY = '5.2.envelope'
const STATUS = '5.2.status'
const GOOD = ['plain', 'minimum', 'more', 'unicode', 'capabilities', 'attachment', 'big']
const BAD = ['no-json', 'no-version', 'no-request', 'secret']
const ALL = [...GOOD, ...BAD, 'other-version']

const bodyOf = (run: AgentRun): JsonRecord => objectsOf(run)[0] ?? {}
const responseOf = (run: AgentRun): JsonRecord => objectIn(bodyOf(run), 'response')
const errorOf = (run: AgentRun): JsonRecord => objectIn(responseOf(run), 'error')
const isFailure = (run: AgentRun): boolean => responseOf(run)['status'] === 'error'
/** Refused as a mistake of the shell. */
const isRefused = (run: AgentRun): boolean => isFailure(run) && String(errorOf(run)['code']).startsWith('invalid')
const directivesOf = (run: AgentRun): unknown[] => {
  const { action_directives: all } = responseOf(run)
  return Array.isArray(all) ? all : []
}
const optional = (value: unknown, allowed: readonly unknown[]): boolean =>
  value === undefined || allowed.includes(value)
const ECHOED: Readonly<Record<string, readonly [string, string]>> = { unicode: ['ü-😀', 'ç-😀'] }
const echoOf = ({ scenario }: AgentRun): readonly [string, string] => ECHOED[scenario] ?? ['req-1', 'corr-1']

/** Of what is sent with both ids. */
const NAMED = ['plain', 'more', 'unicode', 'capabilities', 'attachment', 'big']

const succeeds = (scenario: string, expects: string): AgentRow => ({
  expects,
  on: [scenario],
  needs: [BODY, STATUS],
  judge: (run) => expectThat(!isRefused(run), show(errorOf(run))),
})

/** The rules for engines. */
export const agentRules = rulesForAgents('openharness', SECTIONS, {
  '5.2.envelope': {
    expects: 'every request is answered with one JSON object that has a `response` object',
    on: ALL,
    judge: (run) => expectThat(run.lines.length === 1 && isObject(bodyOf(run)['response']), show(run.output)),
  },
  '5.2.protocol-version': {
    expects: 'the answer has a protocol_version of three numbers, major version 1',
    on: ALL,
    needs: ['5.2.envelope'],
    judge: (run) =>
      expectThat(/^1\.\d+\.\d+/.test(String(bodyOf(run)['protocol_version'])), show(bodyOf(run)['protocol_version'])),
  },
  '5.2.request-id': {
    expects: 'request_id is the one of the request',
    on: NAMED,
    needs: ['5.2.envelope'],
    judge: (run) => expectThat(bodyOf(run)['request_id'] === echoOf(run)[0], show(bodyOf(run)['request_id'])),
  },
  '5.2.correlation-id': {
    expects: 'correlation_id is the one of the request',
    on: NAMED,
    needs: ['5.2.envelope'],
    judge: (run) => expectThat(bodyOf(run)['correlation_id'] === echoOf(run)[1], show(bodyOf(run)['correlation_id'])),
  },
  '5.2.status': {
    expects: 'response.status is success or error',
    on: ALL,
    needs: ['5.2.envelope'],
    judge: (run) =>
      expectThat(optional(responseOf(run)['status'] ?? null, ['success', 'error']), show(responseOf(run))),
  },
  '13.error-object': {
    expects: 'a failure has response.error with a `code`; its message is a string, retryable a boolean',
    on: ALL,
    needs: ['5.2.envelope', '5.2.status'],
    judge: (run) => {
      if (!isFailure(run)) return skip('no failure was seen')
      const { code, message = '', retryable = false } = errorOf(run)
      return expectThat(
        isText(code) && typeof message === 'string' && typeof retryable === 'boolean',
        show(responseOf(run)),
      )
    },
  },
  '13.success-without-error': {
    expects: 'a success has no response.error',
    on: GOOD,
    needs: ['5.2.envelope', '5.2.status'],
    judge: (run) =>
      isFailure(run) ? skip('no success was seen') : expectThat(!('error' in responseOf(run)), show(responseOf(run))),
  },
  '10.action-type': {
    expects: 'action_directives is a list of objects with an `action_type` that is not empty',
    on: GOOD,
    needs: ['5.2.envelope'],
    judge: (run) => {
      const { action_directives: all = [] } = responseOf(run)
      return Array.isArray(all)
        ? every(all, 'directive', (one) => isObject(one) && isText(one['action_type']))
        : { broken: show(all) }
    },
  },
  '10.hints': {
    expects: 'a directive’s priority, execution, risk_tier and requires_user_approval have values of the text',
    on: GOOD,
    needs: ['10.action-type'],
    judge: (run) =>
      every(
        directivesOf(run).filter(isObject),
        'directive',
        ({ priority, execution, risk_tier, requires_user_approval }) =>
          optional(priority, ['low', 'normal', 'high', 'critical']) &&
          optional(execution, ['sequential', 'parallel']) &&
          optional(risk_tier, ['safe', 'caution', 'dangerous']) &&
          optional(requires_user_approval, [true, false]),
      ),
  },
  '4.unknown-fields': succeeds('more', 'unknown fields are ignored at every level'),
  '5.1.optional-fields': succeeds('minimum', 'a request without request_id, correlation_id and capabilities is taken'),
  '9.1.attachments': succeeds('attachment', 'attachments by reference are taken'),
  '9.big-intent': succeeds('big', 'an intent of 200 KB is taken'),
  '5.3.answered': {
    expects: 'every asked capability is in supported_capabilities or in capability_denials',
    on: ['capabilities'],
    needs: ['5.2.envelope'],
    lenient: true,
    judge: (run) => {
      const { supported_capabilities: yes, capability_denials: no } = bodyOf(run)
      const denied = Array.isArray(no) ? no.filter(isObject).map(({ capability }) => capability) : []
      const names = isObject(yes) ? [...Object.keys(yes), ...denied] : denied
      return every(['com.example.never', 'openharness.streaming'], 'capability', (name) => names.includes(name))
    },
  },
  '3.version-refused': {
    expects: 'a major version that the engine does not have is refused: status error, protocol_version_unsupported',
    on: ['other-version'],
    needs: ['5.2.envelope', '5.2.status'],
    lenient: true,
    judge: (run) => expectThat(errorOf(run)['code'] === 'protocol_version_unsupported', show(responseOf(run))),
  },
  '13.bad-request': {
    expects: 'what is no JSON, or has no protocol_version or no request, is answered with status error',
    on: ['no-json', 'no-version', 'no-request'],
    needs: ['5.2.envelope', '5.2.status'],
    judge: (run) => expectThat(isFailure(run), show(responseOf(run))),
  },
  '7.secrets': {
    expects: 'a token of `auth` is never returned in an error',
    on: ['secret'],
    judge: ({ output }) => expectThat(!output.includes(SECRET), 'the token'),
  },
  '13.http-status': {
    expects: 'over HTTP an error has a status of 400 or above, a success one of 200 to 299',
    on: ALL,
    needs: ['5.2.envelope', '5.2.status'],
    judge: (run) => {
      const { status } = run
      if (status === undefined) return skip('it was not tested over HTTP')
      return expectThat(isFailure(run) ? status >= 400 : status < 300, `${status} ${show(responseOf(run))}`)
    },
  },
  '5.2.content-type': {
    expects: 'over HTTP the answer is application/json',
    on: ALL,
    judge: ({ headers }) =>
      headers === undefined
        ? skip('it was not tested over HTTP')
        : expectThat(/^application\/json\b/.test(headers['content-type'] ?? ''), show(headers['content-type'])),
  },
  '5.1.method': {
    expects: 'over HTTP another method than POST is no success',
    on: ['wrong-method'],
    judge: ({ status }) => expectThat(Number(status) >= 400, String(status)),
  },
  '5.2.ends': {
    expects: 'the answer is complete, and its process ends by itself',
    on: ALL,
    judge: exits,
  },
  '5.2.utf-8': {
    expects: 'the answer is UTF-8 without a byte order mark',
    on: ALL,
    judge: ({ output }) => exactly(0, output.match(/[\ufffd\ufeff]/g) ?? [], 'wrong characters'),
  },
})
