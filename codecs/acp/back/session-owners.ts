import { isRecord } from '../../../src/model/index.ts'

/** The links that have sessions of an agent: each session has one. */
export class SessionOwners {
  readonly #links = new Map<string, number>()

  /** The link that has a session. */
  linkOf(session: string | undefined): number | undefined {
    return session === undefined ? undefined : this.#links.get(session)
  }

  /** True for a session that no other link has. */
  isFree(session: string | undefined, link: number): boolean {
    const owner = this.linkOf(session)
    return owner === undefined || owner === link
  }

  /** A link has a session from here on. */
  give(session: string, link: number): void {
    this.#links.set(session, link)
  }

  /** Nobody has the session any more. */
  delete(session: string): void {
    this.#links.delete(session)
  }

  /** The sessions of a link. */
  sessionsOf(link: number): string[] {
    return [...this.#links].flatMap(([session, owner]) => (owner === link ? session : []))
  }
}

/** The session that parameters or a result name. */
export function sessionOf(params: unknown): string | undefined {
  const session = isRecord(params) ? params['sessionId'] : undefined
  return typeof session === 'string' ? session : undefined
}
