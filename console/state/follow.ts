import type { TurnRow } from '../logic/types.ts'
import { ApiError, loginNeeded, readEvents } from './api.ts'

/** The pause before a lost stream is opened again, in milliseconds. */
const AGAIN_MS = 1_500

/** Listener for turns while a page is open. */
export interface Follower {
  /** The stream has begun, perhaps again; it does not have what happened before. */
  began(): void
  turns(turns: readonly TurnRow[]): void
  lost(): void
}

/** Follows the turns of the gateway, again after a loss, until the returned function is called. */
export function followTurns(query: string, follower: Follower): () => void {
  const stop = new AbortController()
  void keepFollowing(query, stop.signal, follower)
  return () => stop.abort()
}

async function keepFollowing(query: string, stop: AbortSignal, follower: Follower): Promise<void> {
  const path = `/v1/turns?follow=1${query === '' ? '' : `&${query}`}`
  while (!stop.aborted) {
    let isFirst = true
    const ended = readEvents(path, stop, (event, data) => {
      if (event !== 'turns') return
      if (isFirst) follower.began()
      isFirst = false
      follower.turns((JSON.parse(data) as { turns: TurnRow[] }).turns)
    })
    await ended.catch((error) => {
      if (error instanceof ApiError && error.status === 401) loginNeeded.value = true
    })
    if (stop.aborted) return
    follower.lost()
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}
