/** The page's own files, bundled to one text by the build (scripts/page-bundle.mjs). */
declare module '*?bundle' {
  const text: string;
  export default text;
}
