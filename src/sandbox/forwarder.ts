/** Where programs in the sandbox find the proxy. */
export const INNER_PORT = 3128;
export const INNER_SOCKET = '/run/agent-run-proxy.sock';

// Runs inside the sandbox, whose own network is empty: joins a loopback port to the proxy's socket, then starts the
// command and ends as it ends.
const CODE = `
const { createServer, connect } = require('node:net');
const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const [socket, port, ...argv] = process.argv.slice(1);
createServer((inner) => {
  const outer = connect(socket);
  inner.pipe(outer).pipe(inner);
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
}).listen(Number(port), '127.0.0.1', () => {
  const child = spawn(argv[0], argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
`;

/** The command that runs `argv` with the proxy in reach. */
export function withForwarder(argv: readonly string[]): string[] {
  return [process.execPath, '-e', CODE, INNER_SOCKET, String(INNER_PORT), ...argv];
}

/** What programs must be told; both spellings, because half of them read only one. */
export function proxyVariables(): Record<string, string> {
  const url = `http://127.0.0.1:${INNER_PORT}`;
  return { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, NO_PROXY: '', no_proxy: '' };
}
