import type { ProtocolTexts, ProtocolTool } from '../core/ports.ts';

const HOW_TO_CALL = `To call a tool, write this in your reply, on a line of its own and outside any code fence:

<tool_call><name>NAME</name><params>{"parameter": "value"}</params></tool_call>

Between <params> and </params> stands one JSON object that fits the tool's schema; line breaks and quotes inside its strings are escaped. A reply may hold several calls. End the reply after the last one: the results follow in the next message, each in a <tool_result> with the number of its call. Never write a <tool_result> yourself. A reply without a call is your final answer.`;

/** What models without tool calling are told, by default. */
export const DEFAULT_PROTOCOL: ProtocolTexts = {
  tags: ['tool_result', 'tool_call'],
  tools: (tools) => `${HOW_TO_CALL}\n\nThe tools:\n\n${tools.map(described).join('\n\n')}`,
  toolResult: ({ tool, call, status, output }) =>
    `<tool_result call="${call}" name="${tool}"${status === 'error' ? ' status="error"' : ''}>\n${output}\n</tool_result>`,
};

function described({ name, description, schema }: ProtocolTool): string {
  return `## ${name}\n${description}\nSchema of its parameters: ${schema}`;
}
