/** True of a schema that the metaschema of draft-07 accepts for sure; the build compiles it in place of this, see `metaschema.ts`. */
export const accepts = (_schema: unknown): boolean => false;
