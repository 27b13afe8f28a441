import { type Fault, fault } from '../model/index.ts'
import { errorCode } from './spawn-fault.ts'

/** What the client finds wrong with the head of an answer. */
const NO_HTTP = /^(HTTPParserError|HPE_\w+|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/
/** The connection was closed by the other side. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
/** An interim answer that was not asked for (100, 101) is told in words alone. */
const UNASKED = /^bad (response|upgrade)$/
const TLS = /CERT|TLS|SSL|^UNABLE_TO_|^EPROTO$/

/**
 * Why an HTTP call broke, as a fault. `where` is host and port; a path or an error's own message may hold secrets.
 * `answered` says whether the head of the answer had come, `kept` that the connection may have brought answers before:
 * that it was closed then says nothing of whether the agent can be used.
 */
export function httpFault(error: unknown, where: string, answered: boolean, kept = false): Fault {
  // What the parser throws has a name but no code.
  const code = error instanceof Error && error.name === 'HTTPParserError' ? error.name : errorCode(error)
  if (answered)
    return fault(
      'protocol-violation',
      `The agent at ${where} broke off its answer (${code}); what came of it is incomplete. Check that it runs, and the limits of what is between.`,
    )
  if (kept && CLOSED.has(code)) {
    const what = `closed the connection as a request was on its way (${code}), maybe one that it had kept`
    const why = 'whether it has read the request is not known, so it was not sent again'
    return fault('agent-crashed', `The agent at ${where} ${what}; ${why}. Try again.`, { retryable: true })
  }
  if (NO_HTTP.test(code))
    return fault('protocol-violation', `The agent at ${where} did not answer in HTTP (${code}); check the \`url\`.`)
  if (error instanceof Error && UNASKED.test(error.message)) {
    const what = 'answered with an interim status that nothing asked for (100 or 101)'
    return fault('protocol-violation', `The agent at ${where} ${what}; check its server and what is in front of it.`)
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
    return 'did not accept a connection in time; check that it runs and that no firewall is between'
  if (TLS.test(code))
    return `could not be reached over TLS (${code}); check its certificate, and http or https in its \`url\``
  if (CLOSED.has(code))
    return 'closed the connection before it answered; it may have begun the work. Check that it runs, and what is between'
  return `could not be reached (${code}); check its \`url\` and the network`
}
