import type { AssistantBlock, ResultContent, UserBlock } from '../core/messages.ts';
import type { RunEvent } from '../core/events.ts';
import type { Subscriber } from '../core/ports.ts';

/** Writes what was said in full, for people to read: messages, replies, inputs and results of calls. Secrets were taken out before an event had them. */
export function createBodies(write: (text: string) => void): Subscriber {
  return {
    name: 'bodies',
    onEvent(event) {
      const body = bodyOf(event);
      if (body !== undefined) write(`== ${event.seq} ${event.time} ${body.title}\n${body.text.trimEnd()}\n\n`);
    },
  };
}

function bodyOf(event: RunEvent): { title: string; text: string } | undefined {
  switch (event.type) {
    case 'run_start':
      return { title: `system of ${event.task.name}`, text: event.system };
    case 'user_message':
      return { title: `user (${event.reason})`, text: blocks(event.content) };
    case 'model_reply':
      return {
        title: `reply of turn ${event.turn} by ${event.model} (${event.stop_reason})`,
        text: blocks(event.content),
      };
    case 'model_failed':
      return { title: `no reply in turn ${event.turn} (${event.kind})`, text: event.message };
    case 'tool_end':
      return { title: `result of ${event.name} (${event.status}) ${event.tool_use_id}`, text: blocks(event.content) };
    case 'verify_end':
      return { title: `verify ${event.command} (exit code ${event.exit_code ?? 'none'})`, text: event.output };
    case 'run_end':
      return { title: `end: ${event.outcome.reason} (exit ${event.exit_code})`, text: event.message };
    default:
      return undefined;
  }
}

function blocks(content: readonly (AssistantBlock | UserBlock | ResultContent)[]): string {
  return content.map(blockText).join('\n');
}

/** What is no text is shown as the JSON it is. */
function blockText(block: AssistantBlock | UserBlock | ResultContent): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'tool_use':
      return `-- call ${block.name} ${block.id}\n${block.input_json}`;
    default:
      return JSON.stringify(block);
  }
}
