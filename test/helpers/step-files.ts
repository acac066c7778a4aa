/** Reads a GITHUB_OUTPUT file the way the runner does: `name=value` or `name<<DELIMITER`, lines, DELIMITER. */
export function readOutputs(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (line === '') continue;
    const block = /^([^=]*?)<<(.+)$/.exec(line);
    if (!block) {
      const at = line.indexOf('=');
      if (at < 1) throw new Error(`not a line of an output file: ${line}`);
      values[line.slice(0, at)] = line.slice(at + 1);
      continue;
    }
    const [, name = '', delimiter = ''] = block;
    const end = lines.indexOf(delimiter, index + 1);
    if (end < 0) throw new Error(`the value of ${name} has no end`);
    values[name] = lines.slice(index + 1, end).join('\n');
    index = end;
  }
  return values;
}
