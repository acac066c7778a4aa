// The end of a step whose code could not be made ready: like any other of its kind, so that no later step takes it for a run.
import { appendFileSync } from 'node:fs';
import { EOL } from 'node:os';

/** Writes one error line and the outputs of a run that never began; the code the process ends with. */
export function failStep(message) {
  const text = message.replaceAll('%', '%25').replaceAll(/\r?\n/g, '%0A');
  process.stdout.write(`::error title=agent-run%3A io_error (exit 1)::${text}${EOL}`);
  const outputs = { status: 'failure', 'exit-reason': 'io_error', 'exit-code': '1' };
  const file = process.env['GITHUB_OUTPUT'];
  if (file) {
    const lines = Object.entries(outputs).map(([name, value]) => `${name}=${value}${EOL}`);
    appendFileSync(file, lines.join(''));
  }
  // As after a run: only what the workflow says fails the step.
  return ['never', 'verdict'].includes((process.env['INPUT_FAIL-ON'] ?? '').trim()) ? 0 : 1;
}
