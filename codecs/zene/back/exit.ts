import { type CallEnd, faultOfEnd } from '../../../src/contract/index.ts'
import { beginningOf, type Fault, fault } from '../../../src/model/index.ts'

/** Exit code of an input or protocol error before anything ran; also what the program's argument parser ends with. */
const REFUSED = 2

/** The longest first line of stderr that is passed on, in UTF-16 units. */
const LINE_LENGTH = 300

/**
 * Says why a process that ended left its turn without an answer. Real zene loses its answer line in a race on exit 2: then
 * the first line of stderr is the message, unless we caused it. `silent`: stdout had no line at all.
 */
export function faultOfExit(end: CallEnd, silent: boolean): Fault {
  if (end.why !== 'closed' || end.exitCode !== REFUSED || !silent) return faultOfEnd(end)
  const line = firstLine(end.stderr ?? '')
  if (line.startsWith('error:')) {
    return fault('agent-unavailable', 'The agent refused its command line; check the args of the agent.')
  }
  if (/stdin read time(d )?out/.test(line)) {
    return fault('internal', 'The agent stopped waiting for the request; see the gateway log.')
  }
  return fault('invalid-request', line || 'The agent refused the request without a reason.')
}

/** The first line that says something, without colours and without the logger's own words. */
function firstLine(stderr: string): string {
  const plain = stderr.replace(/\x1b\[[0-9;]*m/g, '')
  const line = plain.split('\n').find((text) => text.trim() !== '') ?? ''
  return beginningOf(line.trim().replace(/^\S+Z\s+ERROR \S+: Host failed: (PROTOCOL: )?/, ''), LINE_LENGTH)
}
