import { makeHistory } from '../history.mjs';

export const ENDPOINT = 'https://api.deepseek.com';
export const ENV = { DEEPSEEK_API_KEY: 'played-by-a-script' };

const result = (ruleId, text, uri, startLine) => ({
  ruleId,
  level: 'error',
  message: { text },
  locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine } } }],
});
const SARIF = {
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'scanner', rules: [{ id: 'sql-injection' }, { id: 'hard-coded-secret' }] } },
      results: [
        result('sql-injection', 'A query is put together from text.', 'src/users.js', 3),
        result('hard-coded-secret', 'This looks like a password.', 'test/login.test.js', 1),
      ],
    },
  ],
};

/** A service, and what a scanner found in it: one finding is real, one is not. */
export default async function make(dir) {
  const users = `import { db } from './db.js';

export const find = (name) => db.query("select * from users where name = '" + name + "'");
`;
  const routes = "import { find } from './users.js';\n\nexport const get = (request) => find(request.query.name);\n";
  makeHistory(dir, [
    {
      message: 'Look users up',
      files: {
        'src/users.js': users,
        'src/routes.js': routes,
        'test/login.test.js': "const password = 'only-for-this-test';\nif (!password) throw new Error('none');\n",
        'scan.sarif': `${JSON.stringify(SARIF, null, 1)}\n`,
      },
    },
  ]);
}
