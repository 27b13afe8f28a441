import { effect, signal } from '@preact/signals'

/** The colours: those of the system, or a choice. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'turnpike-theme'
const THEMES: readonly Theme[] = ['system', 'light', 'dark']

/** The chosen colours; the browser remembers them. */
export const theme = signal<Theme>(THEMES.find((one) => one === remembered()) ?? 'system')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // A browser without storage forgets the choice.
  }
})

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

/** Chooses the next colours. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!
}
