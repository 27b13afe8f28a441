import { signal } from '@preact/signals'
import type { Me, Settings } from '../logic/types.ts'
import { get, loginNeeded, post } from './api.ts'

/** The caller; undefined until the gateway has answered. */
export const me = signal<Me | undefined>(undefined)

/** Settings of the gateway for the console. */
export const settings = signal<Settings>({})

/** Asks who the caller is. */
export async function findMe(): Promise<void> {
  settings.value = await get<Settings>('/console/settings')
  me.value = await get<Me>('/v1/me')
  loginNeeded.value = false
}

/** Logs in with a key, for which the browser gets a cookie. Rejects when the key is refused. */
export async function logIn(key: string): Promise<void> {
  await post('/console/login', { key })
  await findMe()
}

/** Ends the login. */
export async function logOut(): Promise<void> {
  await post('/console/logout')
  me.value = undefined
  loginNeeded.value = true
}
