/** The version of the CLI whose behaviour is stood in for. */
export const VERSION = '0.24.4+turnpike'

/** The lines that `--help` prints. */
export const HELP: readonly string[] = [
  'qwen, served by turnpike: a prompt or lines of JSON on stdin, the answer on stdout.',
  '',
  'Honoured',
  '  --input-format text|stream-json         what stdin holds',
  '  --output-format, -o text|json|stream-json   what stdout gets',
  '  --include-partial-messages              show messages as they come',
  '  --prompt, -p TEXT, or TEXT alone        one prompt, then exit',
  '  --approval-mode plan|default|auto-edit|auto|yolo, --yolo, -y',
  '  --session-id UUID, --resume, -r ID      session to go on with',
  '  --model, -m ID                          model of every prompt',
  '  --system-prompt TEXT  --append-system-prompt TEXT',
  '  --json-schema JSON                      shape of the answer',
  '  --version, -v  --help, -h',
  '',
  'Accepted without effect, one line on stderr each',
  '  --openai-api-key --openai-base-url --auth-type --proxy --debug --sandbox --telemetry and the like',
  '',
  'Refused: what would change the answer and is configured where the agent runs, such as',
  '  --continue --fork-session --max-session-turns --allowed-tools --mcp-config --include-directories',
]
