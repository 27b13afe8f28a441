import { codeOfProviderText, type Ending, failedWith } from '../../src/codec-kit/index.ts'
import { type CallEnd, faultOfEnd } from '../../src/contract/index.ts'
import { type Fault, fault } from '../../src/model/index.ts'
import { exitCodeExt } from './errors.ts'
import type { AgentProcOptions } from './options.ts'

/** The longest part of stderr that may follow an error, in UTF-16 units. */
const STDERR_TAIL = 1000

/** Exit code of a time limit that the agent imposed on itself. */
const TIMED_OUT = 124

/** The facts that the end of a run is judged by. `secrets` are the values that must not show in a quoted stderr. */
export interface RunEnd {
  end: CallEnd
  /** The agent's last AGENT_ERROR. */
  error: string | undefined
  options: AgentProcOptions
  secrets: readonly string[]
  /** True when the client asked for the end. */
  cancelled: boolean
}

/** The end of a turn that has its answer. */
export const COMPLETED: Ending = { outcome: 'completed', stop: 'end' }

/** The end of a turn that was asked to stop. */
export const CANCELLED: Ending = {
  outcome: 'cancelled',
  stop: 'aborted',
  fault: fault('cancelled', 'The turn was cancelled.'),
}

/** The end of a run. A run that the client asked to cancel is cancelled, however it ends. */
export function endingOf(run: RunEnd): Ending {
  if (run.cancelled || run.end.why === 'cancelled') return CANCELLED
  const failure = failureOf(run)
  return failure ? failedWith(failure) : COMPLETED
}

/**
 * Says why a run that was not cancelled failed, or undefined when it succeeded. A time limit weighs more than an
 * AGENT_ERROR, that more than the exit code; only an exit with 0 is a success.
 */
function failureOf({ end, error, options, secrets }: RunEnd): Fault | undefined {
  if (end.why === 'closed' && end.exitCode === 0 && error === undefined) return undefined
  const found = end.why === 'closed' ? failedRun(end, error, options) : stoppedRun(end, error)
  const tail = options.include_stderr_in_reply ? stderrTail(end.stderr ?? '', secrets) : ''
  return tail === '' ? found : { ...found, message: `${found.message}\n\n${tail}` }
}

/** Timed out, or never started. */
function stoppedRun(end: CallEnd, error: string | undefined): Fault {
  const found = faultOfEnd(end)
  return error === undefined ? found : { ...found, message: `${found.message} Before that it reported: ${error}` }
}

function failedRun({ exitCode, signal }: CallEnd, error: string | undefined, options: AgentProcOptions): Fault {
  const how = signal ? `signal ${signal}` : `exit code ${exitCode ?? 'unknown'}`
  const silent = options.send_error_reply ? `The agent failed (${how}); its stderr is in the gateway log.` : how
  const code = exitCode === TIMED_OUT ? 'timeout' : (codeOfProviderText(error ?? '') ?? 'agent-crashed')
  const ext = exitCodeExt(exitCode)
  return fault(code, error ?? silent, ext && { ext })
}

/** The last lines of stderr without what looks like a secret. */
function stderrTail(stderr: string, secrets: readonly string[]): string {
  let text = stderr
  for (const secret of secrets) if (secret.length >= 6) text = text.replaceAll(secret, '***')
  text = text
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 ***')
    .replace(/\b(?:sk|pk|rk|gh[pousr]|xox[abprs]|AKIA)[-_]?[A-Za-z0-9_-]{12}[A-Za-z0-9_-]*/g, '***')
    .replace(/((?:api[_-]?key|token|secret|passw(?:or)?d|credential)s?["']?\s*[:=]\s*)\S+/gi, '$1***')
    .trim()
  return text.length <= STDERR_TAIL ? text : text.slice(-STDERR_TAIL).replace(/^[^\n]*\n/, '')
}
