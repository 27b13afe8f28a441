import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PageName, Route } from './logic/route.ts'
import { AgentsPage } from './pages/agents.tsx'
import { LoginPage } from './pages/login.tsx'
import { MatrixPage } from './pages/matrix.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { SessionsPage } from './pages/sessions.tsx'
import { TryPage } from './pages/try.tsx'
import { TurnPage } from './pages/turn.tsx'
import { TurnsPage } from './pages/turns.tsx'
import { loginNeeded } from './state/api.ts'
import { findMe, me } from './state/me.ts'
import { route } from './state/route.ts'
import { Frame } from './view/frame.tsx'
import { Problem, useLoaded } from './view/loaded.tsx'

/** A page of the console, for what its address says. */
type Page = ComponentType<{ route: Route }>

const PAGES: Readonly<Record<PageName, Page>> = {
  overview: OverviewPage,
  turns: ({ route }) =>
    route.id === undefined ? <TurnsPage route={route} /> : <TurnPage key={route.id} id={route.id} />,
  try: TryPage,
  sessions: SessionsPage,
  agents: AgentsPage,
  matrix: MatrixPage,
}

/** The whole console: the page of its address in the frame, or the login. */
export function App() {
  const { problem } = useLoaded(findMe, [])
  const { page } = route.value
  useEffect(() => {
    document.title = `${page[0]!.toUpperCase()}${page.slice(1)} · Turnpike`
  }, [page])
  if (loginNeeded.value) return <LoginPage />
  if (!me.value) return problem === undefined ? null : <Problem text={problem} />
  const Shown = PAGES[page]
  return (
    <Frame>
      <Shown route={route.value} />
    </Frame>
  )
}
