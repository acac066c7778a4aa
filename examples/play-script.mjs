// A chat-completions endpoint on this machine that plays an example's script as a model without tool calling would answer:
// calls are written into the text. So the examples for such models run without a key.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

/** Starts the endpoint; `close` ends it. Turns are those of a script file. */
export async function playScript(file) {
  const { turns } = JSON.parse(await readFile(file, 'utf8'));
  let played = 0;
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => reply(response, JSON.parse(Buffer.concat(parts).toString('utf8')), turns, played++));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function reply(response, { messages }, turns, index) {
  const asked = messages.at(-1).content;
  const turn = turns[index];
  const missing = [turn?.expect ?? []].flat().find((text) => !asked.includes(text));
  if (!turn || missing !== undefined) {
    const message = turn
      ? `turn ${index + 1} expects "${missing}" in what it is given`
      : 'the script has no further turn';
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events(turn)) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** The text in small pieces, as it streams, then the usage. */
function* events({ text = '', tool_use = [], usage }) {
  const calls = tool_use.map(
    ({ name, input }) => `<tool_call><name>${name}</name><params>${JSON.stringify(input)}</params></tool_call>`,
  );
  const content = [text, ...calls].filter(Boolean).join('\n');
  const chunk = (delta, finish_reason = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'deepseek-chat',
    choices: [{ index: 0, delta, finish_reason }],
  });
  for (const piece of content.match(/.{1,40}/gsu) ?? []) yield chunk({ content: piece });
  yield chunk({}, 'stop');
  const { input_tokens: prompt_tokens, output_tokens: completion_tokens } = usage;
  const total_tokens = prompt_tokens + completion_tokens;
  yield { ...chunk({}), choices: [], usage: { prompt_tokens, completion_tokens, total_tokens } };
}
