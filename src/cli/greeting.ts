import type { Config } from '../config/index.ts'
import { DEFAULT_CONFIG } from './config-file.ts'
import { namingConfig, ownCommand, quoted } from './own-command.ts'
import { findAgents } from './programs.ts'

/** The text of `turnpike serve` when it listens on `url`: its addresses for clients, and commands to try. */
export function greeting(url: string, { agents, default: first, server }: Config, file: string): string {
  const names = [...agents.keys()]
  const model = agents.has('coder') ? 'coder' : (first ?? names[0] ?? '')
  const key = server.keys.length > 0 ? ` -H 'authorization: Bearer KEY'` : ''
  const command = ownCommand()
  const at = localUrl(url)
  const named = configOption(file)
  const option = named === undefined ? '' : ` ${named}`
  const json = `${key} -H 'content-type: application/json'`
  return `Turnpike listens on ${url} (agents: ${names.join(', ')})

${server.console ? `  console             ${at}/console/\n` : ''}  OpenAI clients      base URL ${at}/v1
  Anthropic clients   base URL ${at}
  editors (ACP)       command: ${ownCommand('anywhere')} as acp${option}

Try, in another terminal:
  curl -s ${at}/v1/chat/completions${json} -d '{"model":"${model}","messages":[{"role":"user","content":"hello"}]}'
  curl -sN ${at}/v1/turns/${model} -H 'accept: text/event-stream'${json} -d '{"input":"hello"}'
  ${command} tail${namingConfig(file)}
${file === DEFAULT_CONFIG ? `${exampleCommand(at)}\n${nextStep(command)}` : ''}`
}

/** The option by which commands find this configuration from any folder; those of the example agents need none. */
export function configOption(file: string): string | undefined {
  return file === DEFAULT_CONFIG ? undefined : `--config ${quoted(file)}`
}

/** The URL for clients on this machine of a gateway at `url`: one that listens on all addresses is also on loopback. */
export function localUrl(url: string): string {
  return url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//127.0.0.1')
}

/** A command that only the example agents serve, with the protocol of one of them. */
function exampleCommand(url: string): string {
  return `  curl -s ${url}/v1/zene/planner -H 'content-type: application/json' -d '{"request_id":"r1","session_id":"s1","prompt":"hi"}'
`
}

/** The step after the examples: the agents of this machine, if it has some. */
function nextStep(command: string): string {
  const names = findAgents(process.env['PATH'] ?? '').map(({ program }) => program)
  const own = names.length > 0 ? `with the agents of this machine: ${names.join(', ')}` : 'to put your own agents in'
  return `These are examples. \`${command} init\` writes a turnpike.yaml ${own}
`
}
