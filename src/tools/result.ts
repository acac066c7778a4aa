import { cutMiddle } from '../core/cut.ts';
import type { JsonObject } from '../core/json.ts';
import type { ToolContext, ToolOutput } from '../core/ports.ts';

/** A result of the given text, without a cut. */
export function textResult(status: ToolOutput['status'], text: string): ToolOutput {
  const shown = text.trim() === '' ? '(no output)' : text;
  return { status, content: [{ type: 'text', text: shown }], bytes: Buffer.byteLength(text) };
}

/** What the model can mend. */
export function errorResult(text: string): ToolOutput {
  return textResult('error', text);
}

/** A result whose text is redacted, cut to the call's size, and stored whole when it was cut. */
export function cutResult(status: ToolOutput['status'], text: string, context: ToolContext): ToolOutput {
  const clean = context.redact(text.toWellFormed());
  const bytes = Buffer.byteLength(clean);
  if (bytes <= context.max_output_bytes) return { ...textResult(status, clean), bytes };
  const output_file = context.keep(Buffer.from(clean));
  const cut = cutMiddle(clean, context.max_output_bytes, `read_file run:${output_file} pages the whole`);
  return { ...textResult(status, cut.text), bytes, output_file };
}

/** The text of an input field that the schema has checked; absent: undefined. */
export function textField(input: JsonObject, key: string): string | undefined {
  const value = input[key];
  return typeof value === 'string' ? value : undefined;
}

/** The number of an input field that the schema has checked; absent: undefined. */
export function numberField(input: JsonObject, key: string): number | undefined {
  const value = input[key];
  return typeof value === 'number' ? value : undefined;
}
