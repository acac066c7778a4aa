// Whether a schema is one, without ajv: to compile a metaschema takes longer than all the rest of a schema's check. In
// the sources nothing is known and ajv decides; the build puts compiled code in place of each draft's file.

/** The quick check of a draft: true when its metaschema accepts a schema for sure, but for patterns, which are not judged. */
export async function loadMetaschema(name: 'draft-07' | '2019-09' | '2020-12'): Promise<(schema: unknown) => boolean> {
  switch (name) {
    case 'draft-07':
      return (await import('./metaschema-draft-07.ts')).accepts;
    case '2019-09':
      return (await import('./metaschema-2019-09.ts')).accepts;
    case '2020-12':
      return (await import('./metaschema-2020-12.ts')).accepts;
  }
}
