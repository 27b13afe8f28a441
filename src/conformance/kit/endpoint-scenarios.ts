import type { JsonRecord, Scenario } from './suite.ts'

/** A scenario of one request with this body, an object or text. */
export function request(name: string, body: unknown, more: Partial<Scenario> = {}): Scenario {
  return { name, steps: [{ write: typeof body === 'string' ? body : JSON.stringify(body) }], ...more }
}

/** A scenario of one request whose answer is streamed. */
export function streaming(name: string, body: JsonRecord, more: Partial<Scenario> = {}): Scenario {
  return request(name, { ...body, stream: true }, { framing: 'lines', ...more })
}

/** A scenario without a body. */
export function fetches(name: string, path: Scenario['path'], method = 'GET'): Scenario {
  return { name, method, path: path!, steps: [] }
}

/** A scenario in which the client leaves a streamed answer after its first event. */
export function leaves(name: string, body: JsonRecord): Scenario {
  return {
    name,
    framing: 'lines',
    steps: [
      { write: JSON.stringify({ ...body, stream: true }) },
      { until: ({ text }) => text.startsWith('data:') },
      { terminate: true },
    ],
  }
}
