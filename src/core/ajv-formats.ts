import type Core from 'ajv/dist/core.js';
import formats from 'ajv-formats';

/** Teaches a validator the standard formats, with their full checks. */
export function addFormats(ajv: Core.default): void {
  formats.default(ajv);
}
