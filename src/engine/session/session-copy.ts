import type { ForkOrigin, SessionRecord } from '../../contract/index.ts'
import type { AgentSettings } from '../common/index.ts'

/** The record of copies of sessions. */
export interface CopyRecorder {
  /** The agent's own id of the session that another one was copied from, if that is as it was then. */
  origin(fork: ForkOrigin): Promise<string | undefined>
  /** Stores that the agent of a copy has had a turn of it. */
  copied(session: SessionRecord): void
}

/** A session that is a copy of another one, as long as its agent has had no turn of it. */
export class SessionCopy {
  readonly #record: SessionRecord
  readonly #fork: ForkOrigin
  readonly #recorder: CopyRecorder

  private constructor(record: SessionRecord, fork: ForkOrigin, recorder: CopyRecorder) {
    this.#record = record
    this.#fork = fork
    this.#recorder = recorder
  }

  /** The copy that a record is of; undefined for any other session, and for one that was cleared or has its agent's id. */
  static of(record: SessionRecord, recorder: CopyRecorder): SessionCopy | undefined {
    const { bound, settings, epoch = 0, createdAt } = record
    const isOld = bound !== undefined || epoch > createdAt
    return settings?.fork && !isOld ? new SessionCopy(record, settings.fork, recorder) : undefined
  }

  /** The agent's own id of the session that it can copy for this one; undefined when it cannot. */
  async origin({ dialect }: AgentSettings): Promise<string | undefined> {
    return dialect.back.copiesSessions ? this.#recorder.origin(this.#fork) : undefined
  }

  /** The agent has had a turn of it. */
  served(): void {
    this.#recorder.copied(this.#record)
  }
}
