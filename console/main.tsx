import { render } from 'preact'
import { App } from './app.tsx'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/turns.css'
import './styles/turn.css'
import './styles/pages.css'

render(<App />, document.getElementById('console')!)
