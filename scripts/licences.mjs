import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licence texts of the packages whose files are among the bundle's inputs; throws where a package has none. */
export function licencesOf(root, inputs) {
  const folders = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  return [...folders]
    .sort((a, b) => a.localeCompare(b))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(root, folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
      if (!file && !license) throw new Error(`${name} ${version} names no licence: it cannot be bundled`);
      const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : `Licence: ${license}`;
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
