// read_file shows "     7<TAB>text". A model copies such lines back by mistake, so writes take the numbers off again.

const WIDTH = 6;

/** One line as read_file shows it; numbers count from 1. */
export function numberLine(line: string, number: number): string {
  return `${String(number).padStart(WIDTH)}\t${line}`;
}

/** The text without read_file's numbers, when every line carries one and they count up; else undefined. */
export function stripNumbers(text: string): string | undefined {
  const lines = text.split('\n');
  const last = lines.at(-1) === '' && lines.length > 1 ? lines.pop() : undefined;
  const first = Number(prefixOf(lines[0] ?? ''));
  const plain: string[] = [];
  for (const [index, line] of lines.entries()) {
    const prefix = prefixOf(line);
    if (prefix === undefined || Number(prefix) !== first + index) return undefined;
    plain.push(line.slice(prefix.length + 1));
  }
  return [...plain, ...(last === undefined ? [] : [last])].join('\n');
}

// A table of numbers and texts is not taken for it: its first column is not padded to six.
function prefixOf(line: string): string | undefined {
  const prefix = /^( *[1-9]\d*)\t/.exec(line)?.[1];
  return prefix !== undefined && prefix.length >= WIDTH && prefix === prefix.trim().padStart(WIDTH)
    ? prefix
    : undefined;
}
