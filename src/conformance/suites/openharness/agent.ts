import {
  type AgentRule,
  type AgentRun,
  ending,
  every,
  exactly,
  expectThat,
  isObject,
  isText,
  type JsonRecord,
  objectIn,
  objectsOf,
  show,
  skip,
} from '../../kit/index.ts'

/** Sent as a token, and never to be seen again. */
export const SECRET = 'conformance-secret-token'

const VERSION = '3 Versioning'
const RESPONSE = '5.2 Response'
const CAPABILITIES = '5.3 Capabilities'
const DIRECTIVES = '10 Action directives'
const ERRORS = '13 Errors'
const BODY = 'openharness.5.2.envelope'
const STATUS = 'openharness.5.2.status'
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

const succeeds = (id: string, section: string, expects: string, on: string): AgentRule => ({
  id,
  section,
  expects,
  on: [on],
  needs: [BODY, STATUS],
  judge: (run) => expectThat(!isRefused(run), show(errorOf(run))),
})

/** The rules for engines. */
export const agentRules: readonly AgentRule[] = [
  {
    id: BODY,
    section: RESPONSE,
    expects: 'every request is answered with one JSON object that has a `response` object',
    on: ALL,
    judge: (run) => expectThat(run.lines.length === 1 && isObject(bodyOf(run)['response']), show(run.output)),
  },
  {
    id: 'openharness.5.2.protocol-version',
    section: RESPONSE,
    expects: 'the answer has a protocol_version of three numbers, major version 1',
    on: ALL,
    needs: [BODY],
    judge: (run) =>
      expectThat(/^1\.\d+\.\d+/.test(String(bodyOf(run)['protocol_version'])), show(bodyOf(run)['protocol_version'])),
  },
  {
    id: 'openharness.5.2.request-id',
    section: RESPONSE,
    expects: 'request_id is the one of the request',
    on: NAMED,
    needs: [BODY],
    judge: (run) => expectThat(bodyOf(run)['request_id'] === echoOf(run)[0], show(bodyOf(run)['request_id'])),
  },
  {
    id: 'openharness.5.2.correlation-id',
    section: RESPONSE,
    expects: 'correlation_id is the one of the request',
    on: NAMED,
    needs: [BODY],
    judge: (run) => expectThat(bodyOf(run)['correlation_id'] === echoOf(run)[1], show(bodyOf(run)['correlation_id'])),
  },
  {
    id: STATUS,
    section: RESPONSE,
    expects: 'response.status is success or error',
    on: ALL,
    needs: [BODY],
    judge: (run) =>
      expectThat(optional(responseOf(run)['status'] ?? null, ['success', 'error']), show(responseOf(run))),
  },
  {
    id: 'openharness.13.error-object',
    section: ERRORS,
    expects: 'a failure has response.error with a `code`; its message is a string, retryable a boolean',
    on: ALL,
    needs: [BODY, STATUS],
    judge: (run) => {
      if (!isFailure(run)) return skip('no failure was seen')
      const { code, message = '', retryable = false } = errorOf(run)
      return expectThat(
        isText(code) && typeof message === 'string' && typeof retryable === 'boolean',
        show(responseOf(run)),
      )
    },
  },
  {
    id: 'openharness.13.success-without-error',
    section: ERRORS,
    expects: 'a success has no response.error',
    on: GOOD,
    needs: [BODY, STATUS],
    judge: (run) =>
      isFailure(run) ? skip('no success was seen') : expectThat(!('error' in responseOf(run)), show(responseOf(run))),
  },
  {
    id: 'openharness.10.action-type',
    section: DIRECTIVES,
    expects: 'action_directives is a list of objects with an `action_type` that is not empty',
    on: GOOD,
    needs: [BODY],
    judge: (run) => {
      const { action_directives: all = [] } = responseOf(run)
      return Array.isArray(all)
        ? every(all, 'directive', (one) => isObject(one) && isText(one['action_type']))
        : { broken: show(all) }
    },
  },
  {
    id: 'openharness.10.hints',
    section: DIRECTIVES,
    expects: 'a directive’s priority, execution, risk_tier and requires_user_approval have values of the text',
    on: GOOD,
    needs: ['openharness.10.action-type'],
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
  succeeds(
    'openharness.4.unknown-fields',
    '4 Forward compatibility',
    'unknown fields are ignored at every level',
    'more',
  ),
  succeeds(
    'openharness.5.1.optional-fields',
    '5.1 Request',
    'a request without request_id, correlation_id and capabilities is taken',
    'minimum',
  ),
  succeeds('openharness.9.1.attachments', '9.1 Attachments', 'attachments by reference are taken', 'attachment'),
  succeeds('openharness.9.big-intent', '9 Context', 'an intent of 200 KB is taken', 'big'),
  {
    id: 'openharness.5.3.answered',
    section: CAPABILITIES,
    expects: 'every asked capability is in supported_capabilities or in capability_denials',
    on: ['capabilities'],
    needs: [BODY],
    lenient: true,
    judge: (run) => {
      const { supported_capabilities: yes, capability_denials: no } = bodyOf(run)
      const denied = Array.isArray(no) ? no.filter(isObject).map(({ capability }) => capability) : []
      const names = isObject(yes) ? [...Object.keys(yes), ...denied] : denied
      return every(['com.example.never', 'openharness.streaming'], 'capability', (name) => names.includes(name))
    },
  },
  {
    id: 'openharness.3.version-refused',
    section: VERSION,
    expects: 'a major version that the engine does not have is refused: status error, protocol_version_unsupported',
    on: ['other-version'],
    needs: [BODY, STATUS],
    lenient: true,
    judge: (run) => expectThat(errorOf(run)['code'] === 'protocol_version_unsupported', show(responseOf(run))),
  },
  {
    id: 'openharness.13.bad-request',
    section: ERRORS,
    expects: 'what is no JSON, or has no protocol_version or no request, is answered with status error',
    on: ['no-json', 'no-version', 'no-request'],
    needs: [BODY, STATUS],
    judge: (run) => expectThat(isFailure(run), show(responseOf(run))),
  },
  {
    id: 'openharness.7.secrets',
    section: '7 Authentication',
    expects: 'a token of `auth` is never returned in an error',
    on: ['secret'],
    judge: ({ output }) => expectThat(!output.includes(SECRET), 'the token'),
  },
  {
    id: 'openharness.13.http-status',
    section: ERRORS,
    expects: 'over HTTP an error has a status of 400 or above, a success one of 200 to 299',
    on: ALL,
    needs: [BODY, STATUS],
    judge: (run) => {
      const { status } = run
      if (status === undefined) return skip('it was not tested over HTTP')
      return expectThat(isFailure(run) ? status >= 400 : status < 300, `${status} ${show(responseOf(run))}`)
    },
  },
  {
    id: 'openharness.5.2.content-type',
    section: RESPONSE,
    expects: 'over HTTP the answer is application/json',
    on: ALL,
    judge: ({ headers }) =>
      headers === undefined
        ? skip('it was not tested over HTTP')
        : expectThat(/^application\/json\b/.test(headers['content-type'] ?? ''), show(headers['content-type'])),
  },
  {
    id: 'openharness.5.1.method',
    section: '5.1 Request',
    expects: 'over HTTP another method than POST is no success',
    on: ['wrong-method'],
    judge: ({ status }) => expectThat(Number(status) >= 400, String(status)),
  },
  {
    id: 'openharness.5.2.ends',
    section: RESPONSE,
    expects: 'the answer is complete, and its process ends by itself',
    on: ALL,
    judge: (run) => expectThat(run.end === 'exited', ending(run)),
  },
  {
    id: 'openharness.5.2.utf-8',
    section: RESPONSE,
    expects: 'the answer is UTF-8 without a byte order mark',
    on: ALL,
    judge: ({ output }) => exactly(0, output.match(/[\ufffd\ufeff]/g) ?? [], 'wrong characters'),
  },
]
