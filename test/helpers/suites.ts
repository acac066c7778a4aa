// What takes long: it starts whole steps, runs, browsers or sandboxes, or plays many of them. A common check leaves it
// out and says so; CI runs all.
export const SLOW = [
  'test/{action,api,crash,examples,field-reports,scripts,security}/**/*.test.ts',
  'test/**/*.{browser,e2e}.test.ts',
  'test/agent/overlap.test.ts',
  'test/helpers/*.test.ts',
  'test/policy/shell/{fuzz,same-result}.test.ts',
  'test/run/{mcp,replay,resume}*.test.ts',
  'test/workspace/{git,process}*.test.ts',
];
