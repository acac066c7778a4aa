// The quick question whether a value is a valid task: most are, and need none of what words an error. The build puts
// compiled code that answers nothing else in place of this file.

import type { JsonValue } from './json.ts';
import { taskSchemaErrors } from './task-validator.ts';

/** True when schemas/task.schema.json accepts the value for sure; false: `taskSchemaErrors` knows. */
export function isTask(value: JsonValue): boolean {
  return taskSchemaErrors(value).length === 0;
}
