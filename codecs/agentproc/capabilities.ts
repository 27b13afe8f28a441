import { APPROVALS, COUNTS, FILES, TEXT_TURN } from '../../src/codec-kit/index.ts'
import { capabilities, type ItemRows } from '../../src/contract/index.ts'

/** Items that clients and agents of every wire have. */
const EVERY: ItemRows = [TEXT_TURN, ['turn-cancel', 'session.id', 'session.name', 'turn-accepted', 'session-bound']]

const AGENT: ItemRows = [...EVERY, 'part.text', 'notice', 'notice.code', 'fault.code']

/** The capabilities of an agent of wire 0.1. */
export const backCapabilities01 = capabilities({
  full: [...AGENT, 'message-retract'],
  partial: [FILES, 'option.systemPrompt', 'ext'],
})

const AGENT_03: ItemRows = [...AGENT, APPROVALS, 'option.streaming', 'reasoning-delta']
const AGENT_PARTLY: ItemRows = [FILES, 'ext', 'ask-reply', 'option.systemPrompt']

/** The capabilities of an agent of wire 0.3. */
export const backCapabilities03 = capabilities({ full: AGENT_03, partial: AGENT_PARTLY })

/** The capabilities of an agent of wire 0.4. */
export const backCapabilities04 = capabilities({ full: [...AGENT_03, COUNTS], partial: AGENT_PARTLY })

const RUNNER_PARTLY: ItemRows = [
  FILES,
  ['ext', 'message-retract'],
  // Over HTTP the status shows it; else the exit code shows some.
  'fault.code',
  // Only an answer in one piece leaves out asides.
  'message.phase',
]

/** The capabilities of a runner of wire 0.1. */
export const frontCapabilities01 = capabilities({
  full: [...EVERY, 'option.streaming'],
  partial: [...RUNNER_PARTLY, 'part.text'],
})

const RUNNER_03: ItemRows = [...EVERY, 'ask-reply', 'part.text', 'part.reasoning', 'reasoning-delta']
const RUNNER_03_PARTLY: ItemRows = [...RUNNER_PARTLY, APPROVALS]

/** The capabilities of a runner of wire 0.3. */
export const frontCapabilities03 = capabilities({ full: RUNNER_03, partial: RUNNER_03_PARTLY })

/** The capabilities of a runner of wire 0.4. */
export const frontCapabilities04 = capabilities({
  full: [...RUNNER_03, COUNTS, 'usage.estimated'],
  partial: RUNNER_03_PARTLY,
})
