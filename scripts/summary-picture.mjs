// Renders a summary.md to a picture, for a rough view of what a job's page shows: `node scripts/summary-picture.mjs
// summary.md out.png`. Markdown is read by the few rules that summaries use, not by GitHub's own renderer.
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const STYLE = `body { font: 14px/1.5 sans-serif; margin: 24px; color: #1f2328; } table { border-collapse: collapse; }
td, th { border: 1px solid #d1d9e0; padding: 6px 13px; text-align: left; } code, pre { background: #f2f3f5; padding: 2px 5px; }
pre { padding: 12px; } h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: 6px; }`;

/** The browser that CHROMIUM names, or the first one on PATH. */
function findBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = process.env.CHROMIUM ?? candidates.find((path) => existsSync(path));
  if (!found) throw new Error('no Chromium on PATH; name one in the variable CHROMIUM');
  return found;
}

const escapeHtml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** One line with code, bold, emphasis, links and backslash escapes; entities and `<br>` stay as they are. */
function inline(line) {
  const kept = [];
  const keep = (html) => `\uE000${kept.push(html) - 1}\uE001`;
  const marked = line
    .replaceAll(/(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)/g, (_, _ticks, text) =>
      keep(`<code>${escapeHtml(text.trim())}</code>`),
    )
    .replaceAll(/\\([!-/:-@[-`{-~])/g, (_, character) => keep(escapeHtml(character)))
    .replaceAll(/\[([^\]]*)\]\((https?:[^)\s]*)\)/g, (_, text, url) => keep(`<a href="${escapeHtml(url)}">${text}</a>`))
    .replaceAll(/\*\*(.+?)\*\*/g, '<b>$1</b>')
    .replaceAll(/\*(.+?)\*/g, '<i>$1</i>');
  return marked.replaceAll(/\uE000(\d+)\uE001/g, (_, index) => kept[index]);
}

function tableOf(lines) {
  const cells = (line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim()));
  const [head, , ...rows] = lines;
  const row = (line, tag) =>
    `<tr>${cells(line)
      .map((cell) => `<${tag}>${cell}</${tag}>`)
      .join('')}</tr>`;
  return `<table>${row(head, 'th')}${rows.map((line) => row(line, 'td')).join('')}</table>`;
}

/** The page as HTML: headings, tables, lists, fenced and `<pre>` blocks, paragraphs. */
export function toHtml(markdown) {
  const blocks =
    markdown.match(/^(`{3,})\w*\n[^]*?\n\1$|^<pre>\n[^]*?\n<\/pre>$|^(?:\|.*\n?)+|^(?:- .*\n?)+|^.+$/gm) ?? [];
  return blocks.map((block) => {
    const lines = block.trimEnd().split('\n');
    if (block.startsWith('```')) return `<pre>${escapeHtml(lines.slice(1, -1).join('\n'))}</pre>`;
    if (block.startsWith('<pre>')) return block;
    if (block.startsWith('|')) return tableOf(lines);
    if (block.startsWith('- ')) return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('')}</ul>`;
    const [, marks, title] = /^(#{1,6}) (.*)$/.exec(block) ?? [];
    return marks ? `<h${marks.length}>${inline(title)}</h${marks.length}>` : `<p>${inline(block)}</p>`;
  });
}

const [source, target] = process.argv.slice(2);
if (!source || !target) throw new Error('usage: node scripts/summary-picture.mjs SUMMARY.md OUT.png');
const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 600 }, javaScriptEnabled: false });
  // Nothing of the page may be fetched, as a check that nothing of it wants to be.
  await page.route('**/*', (route) => {
    console.error(`refused: ${route.request().url()}`);
    return route.abort();
  });
  await page.setContent(
    `<meta charset="utf-8"><style>${STYLE}</style>${toHtml(readFileSync(source, 'utf8')).join('\n')}`,
  );
  await page.screenshot({ path: target, fullPage: true });
} finally {
  await browser.close();
}
