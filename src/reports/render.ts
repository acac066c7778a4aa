import { jsonForCi } from '../core/sanitise.ts';
import type { Collection } from './collect.ts';
import type { ReportFormat } from './formats.ts';

/** The report in pieces of text, in order; a page of many large transcripts is never held whole. */
export async function* renderReport(collection: Collection, format: ReportFormat): AsyncGenerator<string, void> {
  if (format === 'html') {
    const { htmlReport } = await import('./html-report.ts');
    yield* htmlReport(collection);
  } else yield await wholeReport(collection, format);
}

async function wholeReport(collection: Collection, format: Exclude<ReportFormat, 'html'>): Promise<string> {
  switch (format) {
    case 'junit': {
      const { junitReport } = await import('./junit.ts');
      return junitReport(collection);
    }
    case 'sarif': {
      const { sarifReport } = await import('./sarif.ts');
      return jsonText(sarifReport(collection));
    }
    case 'markdown': {
      const { markdownReport } = await import('./markdown-report.ts');
      return markdownReport(collection);
    }
    case 'json': {
      const { jsonReport } = await import('./json-report.ts');
      return jsonText(jsonReport(collection));
    }
  }
}

/** JSON for people and programs: the same value, well-formed, in which no CI system finds a command. */
function jsonText(value: unknown): string {
  const json = JSON.stringify(
    value,
    (_key, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item),
    2,
  );
  return `${jsonForCi(json)}\n`;
}
