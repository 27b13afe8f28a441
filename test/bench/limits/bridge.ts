/**
 * The limit of a streamed or whole turn: a bare HTTP server in front of warm NDJSON processes, one for each session.
 * Each line is parsed once and one value is written as JSON for it; whatever a pipe read brings is written at once.
 * argv: the agent's command and arguments. stdout: the port, as one line.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [command = '', ...args] = process.argv.slice(2)

interface Line {
  type: string
  delta?: string
}

/** One warm process, and the answer that it is writing. */
class Agent {
  readonly #child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  #rest = ''
  #response: ServerResponse | undefined
  #whole: string[] | undefined

  constructor() {
    this.#child.stdout!.setEncoding('utf8')
    this.#child.stdout!.on('data', (text: string) => this.#data(text))
  }

  ask(prompt: string, response: ServerResponse, stream: boolean): void {
    this.#response = response
    this.#whole = stream ? undefined : []
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    this.#child.stdin!.write(`${JSON.stringify({ id: '1', type: 'prompt', message: prompt })}\n`)
  }

  #data(text: string): void {
    let out = ''
    let done = false
    let from = 0
    const all = this.#rest + text
    for (let lf = all.indexOf('\n'); lf >= 0; lf = all.indexOf('\n', from)) {
      const line = JSON.parse(all.slice(from, lf)) as Line
      from = lf + 1
      if (line.type === 'text_delta') {
        if (this.#whole) this.#whole.push(line.delta!)
        else out += `data: ${JSON.stringify({ type: 'text', text: line.delta })}\n\n`
      } else if (line.type === 'done') done = true
    }
    this.#rest = all.slice(from)
    if (out !== '') this.#response!.write(out)
    if (done) this.#response!.end(this.#whole && JSON.stringify({ ok: true, text: this.#whole.join('') }))
  }
}

const agents = new Map<string, Agent>()

createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (text: string) => {
    body += text
  })
  request.on('end', () => {
    const { session_id: session, prompt } = JSON.parse(body) as { session_id: string; prompt: string }
    const agent = agents.get(session) ?? new Agent()
    agents.set(session, agent)
    agent.ask(prompt, response, request.headers.accept === 'text/event-stream')
  })
}).listen(0, '127.0.0.1', function (this: { address(): AddressInfo | string | null }) {
  process.stdout.write(`${(this.address() as AddressInfo).port}\n`)
})
