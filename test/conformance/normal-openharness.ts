import { each, type Line, list, type Normalisation, omit, record, whole } from './normal.ts'

/** What the README of OpenHarness lists as written otherwise between two ends of it. */
export const openharness: readonly Normalisation[] = [
  each("`supported_protocol_versions` and `engine_latency_ms` (the gateway's)", (line) => ({
    ...omit(line, 'supported_protocol_versions'),
    response: omit(record(line['response']), 'engine_latency_ms'),
  })),
  whole('`supported_capabilities` and `capability_denials` answer every asked capability', (lines, { read }) => {
    const told = new Set(read.flatMap(capabilities))
    return lines.map((line) => {
      const yes = Object.entries(record(line['supported_capabilities'])).filter(([name]) => told.has(name))
      const no = list(line['capability_denials']).filter((one) => told.has(record(one)['capability']))
      return {
        ...omit(line, 'supported_capabilities', 'capability_denials'),
        ...(yes.length > 0 && { supported_capabilities: Object.fromEntries(yes) }),
        ...(no.length > 0 && { capability_denials: no }),
      }
    })
  }),
  whole('`request_id`, else `X-Request-ID`', (lines, { read }) =>
    read.some((line) => line['request_id'] === 'req_unknown') ? lines.map((line) => omit(line, 'request_id')) : lines,
  ),
  whole('`correlation_id`, else `X-Correlation-ID`, else the trace id of `traceparent`', (lines, { read }) =>
    read.some((line) => 'correlation_id' in line) ? lines : lines.map((line) => omit(line, 'correlation_id')),
  ),
  each('usage, notices, stop, session, agent, turn, losses | `response.extensions["urn:turnpike:turn"]`', (line) => {
    const { extensions, ...response } = record(line['response'])
    const others = omit(record(extensions), 'urn:turnpike:turn')
    return { ...line, response: { ...response, ...(Object.keys(others).length > 0 && { extensions: others }) } }
  }),
]

/** The names of the capabilities that an answer tells of. */
function capabilities(line: Line): unknown[] {
  const denied = list(line['capability_denials']).map((one) => record(one)['capability'])
  return [...Object.keys(record(line['supported_capabilities'])), ...denied]
}
