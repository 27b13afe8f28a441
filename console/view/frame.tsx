import type { ComponentChildren } from 'preact'
import { PAGES, type PageName, writeRoute } from '../logic/route.ts'
import { logOut, me, settings } from '../state/me.ts'
import { route } from '../state/route.ts'
import { nextTheme, theme } from '../state/theme.ts'
import { Icon } from './icon.tsx'

const NAMES: Readonly<Record<PageName, string>> = {
  overview: 'Overview',
  turns: 'Turns',
  try: 'Try it',
  sessions: 'Sessions',
  agents: 'Agents',
  matrix: 'Matrix',
}

/** The frame of every page: the ways to the others, and who is logged in. */
export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={toMain}>
        Skip to the page
      </button>
      <header class="side">
        <a class="brand" href={writeRoute('overview')}>
          <Icon name="logo" /> Turnpike
        </a>
        <nav aria-label="Pages">
          {PAGES.map((page) => (
            <a key={page} href={writeRoute(page)} aria-current={route.value.page === page ? 'page' : undefined}>
              <Icon name={page} /> {NAMES[page]}
            </a>
          ))}
        </nav>
        <Foot />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}

function Foot() {
  const { key, role } = me.value!
  return (
    <div class="foot">
      {key !== undefined && (
        <>
          <span class="who" title={`The key ${key}, with the role ${role}`}>
            {key} <small>{role}</small>
          </span>
          <button type="button" class="quiet" onClick={() => void logOut()}>
            Log out
          </button>
        </>
      )}
      <button type="button" class="quiet" onClick={nextTheme} title="Changes the colours">
        Colours: {theme.value}
      </button>
      <small class="muted">{settings.value.version}</small>
    </div>
  )
}

function toMain(): void {
  document.getElementById('main')?.focus()
}
