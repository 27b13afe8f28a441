import { type Fault, fault } from '../model/index.ts'
import { errorCode } from './spawn-fault.ts'

/** Error codes of the HTTP client for a malformed head of an answer. */
const NO_HTTP = /^(HTTPParserError|HPE_\w+|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/
/** The codes of a connection that the other side closed. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
/** The client's error message for an unrequested interim answer (100, 101), which has no code. */
const UNASKED = /^bad (response|upgrade)$/
const TLS = /CERT|TLS|SSL|^UNABLE_TO_|^EPROTO$/

/**
 * The fault of a broken HTTP call. `where` is host and port; a path or an error's own message may hold secrets.
 * `answered` is true when the head of the answer had come, `kept` when the connection may have brought earlier answers:
 * its end then does not mean that the agent is unavailable.
 */
export function httpFault(error: unknown, where: string, answered: boolean, kept = false): Fault {
  // Errors of the parser have a name but no code.
  const code = error instanceof Error && error.name === 'HTTPParserError' ? error.name : errorCode(error)
  if (answered)
    return fault(
      'protocol-violation',
      `The agent at ${where} broke off its answer (${code}), which is incomplete; check that the agent runs, and the limits of proxies between.`,
    )
  if (kept && CLOSED.has(code)) {
    const what = `closed a kept-alive connection during a request (${code})`
    const why = 'it may have read the request, so it was not sent again'
    return fault('agent-crashed', `The agent at ${where} ${what}; ${why}. Try again.`, { retryable: true })
  }
  if (NO_HTTP.test(code))
    return fault('protocol-violation', `The agent at ${where} did not answer in HTTP (${code}); check its \`url\`.`)
  if (error instanceof Error && UNASKED.test(error.message)) {
    const what = 'sent an interim status that was not requested (100 or 101)'
    return fault(
      'protocol-violation',
      `The agent at ${where} ${what}; check its server and the proxies in front of it.`,
    )
  }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED' || code === 'ERR_INVALID_URL')
    return fault(
      'invalid-request',
      `The request for the agent at ${where} holds a method, path or header that HTTP does not allow; correct it.`,
    )
  return fault('agent-unavailable', `The agent at ${where} ${connectionProblem(code)}.`)
}

function connectionProblem(code: string): string {
  if (code === 'ECONNREFUSED') return 'refused the connection; start it, or check host and port of its `url`'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `has a name that could not be resolved (${code}); check the host of its \`url\` and the DNS`
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return 'did not accept a connection in time; check that it runs and that no firewall blocks it'
  if (TLS.test(code))
    return `could not be reached over TLS (${code}); check its certificate, and http or https in its \`url\``
  if (CLOSED.has(code))
    return 'closed the connection before it answered and may have begun the work; check that it runs, and the proxies between'
  return `could not be reached (${code}); check its \`url\` and the network`
}
