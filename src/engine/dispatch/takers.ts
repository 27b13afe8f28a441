import type { Store } from '../../contract/index.ts'
import type { Breakers, Replies } from '../agent/index.ts'
import type { ClientLink } from '../client/index.ts'
import type { CurrentSettings, EngineLog } from '../common/index.ts'
import { Idempotency, type KeyUse, type Recorder, type StoreWatch } from '../record/index.ts'
import type { Figures, LiveTurns, Sessions, Watches } from '../session/index.ts'
import { Admission } from './admission.ts'
import { Controls } from './controls.ts'
import { Conversations } from './conversations.ts'
import type { Takers } from './dispatcher.ts'
import { Duplicates } from './duplicates.ts'
import { Failover } from './failover.ts'
import type { Forwarding } from './forwarding.ts'
import { InOrder } from './in-order.ts'
import { Placement } from './placement.ts'
import { SessionOpener } from './session-opener.ts'
import { TurnCommands } from './turn-commands.ts'
import { TurnStarter } from './turn-starter.ts'

/** Dependencies of the whole gateway. `now` is milliseconds since the epoch. */
export interface Base {
  store: Store
  log: EngineLog
  settings: CurrentSettings
  now(): number
  /** Removes secrets from a text that is kept. */
  clean(text: string): string
}

/** The writers of the record. */
export interface Writers {
  recorder: Recorder
  watch: StoreWatch
  use: KeyUse
}

/** The parts of the gateway that live in memory. */
export interface Memory {
  turns: LiveTurns
  sessions: Sessions
  watches: Watches
  replies: Replies
  breakers: Breakers
  figures: Figures
}

/** Makes the takers of all commands. */
export function commandTakers(base: Base, record: Writers, memory: Memory, forwarding?: Forwarding): Takers {
  const { store, log, settings, now, clean } = base
  const { recorder, watch, use } = record
  const { turns, sessions, watches, breakers, figures } = memory
  const host = { store, now }
  const idempotency = new Idempotency(store, now, turns)
  const opener = new SessionOpener(store, { recorder, watch, forwarding }, sessions)
  const failover = new Failover({ recorder, opener, log, now })
  const order = new InOrder<ClientLink>()
  const steps = {
    order,
    use,
    conversations: new Conversations({ store, turns, sessions: sessions.live, watch, now }),
    placement: new Placement(opener, breakers, settings),
    starter: new TurnStarter(
      { turns, recorder, watch, watches, now, clean },
      { recorder, breakers, turns, figures, failover, log },
    ),
    duplicates: new Duplicates(host, idempotency),
  }
  const admission = new Admission({ watch, recorder, idempotency, turns, opener, now }, steps)
  const turnCommands = new TurnCommands(host, turns, recorder)
  const controls = new Controls({ store, order, ...memory })
  return { admission, turnCommands, controls }
}
