// Values enter only some texts of a task. Elsewhere "{{ inputs.x }}" would be taken literally, which nobody means.

import { isJsonObject, type JsonValue } from '../core/json.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerTo } from './pointer.ts';

const INTERPOLATED =
  /^\/(?:system|prompt(?:\/\d+)?|context\/\d+\/(?:base|head|(?:paths|files|command)\/\d+)|verify\/\d+\/run\/\d+)$/;
// Data of the user, and texts with templates of their own.
const OPAQUE =
  /^\/(?:output\/(?:schema|gate)|inputs|custom_tools\/\d+\/(?:command|stdin|input_schema)|github\/comment|prompts|model\/script)$/;

/** Texts that hold a reference to an input where none is inserted. */
export function literalTemplateIssues(value: JsonValue, pointer = ''): Issue[] {
  if (OPAQUE.test(pointer)) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => literalTemplateIssues(item, pointerTo(pointer, index)));
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => literalTemplateIssues(item, pointerTo(pointer, key)));
  }
  if (typeof value !== 'string' || INTERPOLATED.test(pointer) || !/\{\{-?\s*inputs[.[]/.test(value)) return [];
  const message = `found ${showValue(value)}, expected a text without templates: inputs enter only system, prompt, context and verify`;
  return [{ pointer, message }];
}
