/** Data of the server-sent events of a body; `onBytes` is told of everything that arrives, comments and pings too. */
export async function* readFrames(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const lines = new LineSplitter();
  let data: string[] = [];
  for await (const chunk of body) {
    onBytes();
    for (const line of lines.push(decoder.decode(chunk, { stream: true }))) {
      if (line.startsWith('data:')) data.push(line.slice(line.charAt(5) === ' ' ? 6 : 5));
      if (line !== '' || data.length === 0) continue;
      const frame = data.join('\n');
      data = [];
      if (frame !== '') yield frame;
    }
  }
  // A frame without its empty line was cut: it is dropped, as the standard says, and message_stop will be missed.
}

class LineSplitter {
  #pending: string[] = [];

  // A long line is joined once, when its end comes: appending and searching it for each chunk would be quadratic.
  push(text: string): string[] {
    if (!text.includes('\n')) {
      this.#pending.push(text);
      return [];
    }
    const lines = (this.#pending.join('') + text).split('\n');
    this.#pending = [lines.pop() ?? ''];
    return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
}
