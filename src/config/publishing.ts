// What a task wants published on GitHub; a comment's template is read and checked before anything is spent.

import { COMMENT_NAMES } from '../core/comment-names.ts';
import type { CommentConfig, TaskConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { pageTemplateError } from '../core/page-template.ts';
import { type Building, namedBy, readNamed } from './building.ts';
import type { TextField } from './task-file.ts';

/** The task's `github` block with its defaults; nothing when the task has none. */
export async function buildPublishing(building: Building): Promise<Pick<TaskConfig, 'github'>> {
  const { github } = building.task;
  if (github === undefined) return {};
  const { summary = true, annotations = true, comment } = github;
  if (comment === undefined) return { github: { summary, annotations } };
  if (comment === false) return { github: { summary, annotations, comment } };
  return { github: { summary, annotations, comment: await buildComment(building, comment) } };
}

async function buildComment(
  building: Building,
  comment: true | { template?: TextField; sticky?: boolean },
): Promise<CommentConfig> {
  const { template, sticky = true } = comment === true ? {} : comment;
  return { template: template === undefined ? null : await buildTemplate(building, template), sticky };
}

/** Values enter it when the run is over, so it is only checked here. */
async function buildTemplate(building: Building, field: TextField): Promise<string> {
  const pointer = '/github/comment/template';
  if (typeof field === 'string') {
    const error = await pageTemplateError(field, COMMENT_NAMES);
    if (error) {
      const at = `(line ${error.line}, column ${error.column} of the text)`;
      building.issues.push({ pointer, message: `${error.message} ${at}` });
    }
    return field;
  }
  const source = await readNamed(building, field.file, `${pointer}/file`);
  const error = source ? await pageTemplateError(source.text, COMMENT_NAMES) : undefined;
  if (!source || !error) return source?.text ?? '';
  const { line, column, message } = error;
  const by = await namedBy(building, `${pointer}/file`);
  throw new UsageError(`${message}${by}`, { place: { file: source.file, line, column } });
}
