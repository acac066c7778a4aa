// What `init` writes: a review of a branch, ready to be changed. Texts, so that the bundle needs no files beside it.

import { VERSION } from '../../run/version.ts';

export interface TemplateFile {
  /** Below the folder given to `init`. */
  path: string;
  text: string;
}

const TASK = `{
  "version": 1,
  "name": "review",
  "inputs": {
    "base": { "description": "Branch or commit to compare with", "default": "origin/main" }
  },
  "system": "You are a careful code reviewer. Report only defects that the change introduces.",
  "prompt": "Review the change from {{ inputs.base }} to HEAD. Read the callers of what changed before you judge it.",
  // For a try without a key: { "provider": "script", "prices": { "input": 0, "output": 0 },
  //   "script": { "turns": [{ "tool_use": [{ "name": "submit_result", "input": { "verdict": "approve", "findings": [] } }] }] } }
  "model": "claude-sonnet-5-5",
  // The allowlist: what is not named here cannot be called.
  "tools": { "read_file": {}, "glob": {}, "grep": {}, "bash": { "allow": ["git log *", "npm test"] } },
  "limits": { "max_turns": 20, "max_cost_usd": 1, "timeout": "10m" },
  "output": { "schema": "review.schema.json" },
  "findings": {
    "items": "/findings", "path": "/file", "line": "/line", "title": "/rule", "message": "/message",
    "level": "/severity", "levels": { "high": "error", "medium": "warning", "low": "notice" }
  }
}
`;

const SCHEMA = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "required": ["verdict", "findings"],
  "additionalProperties": false,
  "properties": {
    "verdict": { "enum": ["approve", "request_changes"] },
    "findings": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["file", "line", "severity", "rule", "message"],
        "additionalProperties": false,
        "properties": {
          "file": { "type": "string", "description": "Path relative to the repository." },
          "line": { "type": "integer", "minimum": 1 },
          "severity": { "enum": ["high", "medium", "low"] },
          "rule": { "type": "string", "description": "A few words that name the kind of defect." },
          "message": { "type": "string", "description": "What goes wrong, and when." }
        }
      }
    }
  }
}
`;

const WORKFLOW = `name: review
on: pull_request
permissions:
  contents: read
jobs:
  review:
    # A fork's pull request gets no secrets, so there would be no key.
    if: github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v6
        with:
          fetch-depth: 0
          persist-credentials: false
      - name: Let bubblewrap make its namespaces
        run: |
          sudo apt-get update -qq && sudo apt-get install -y -qq bubblewrap
          sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
      # Replace OWNER by the account that publishes the action.
      - uses: OWNER/agent-run@v${VERSION}
        with:
          # Read from the base commit: a pull request must not choose its own reviewer.
          task: agent-run/review.json
          inputs: base=\${{ github.event.pull_request.base.sha }}
          anthropic-api-key: \${{ secrets.ANTHROPIC_API_KEY }}
`;

export const REVIEW_FILES: readonly TemplateFile[] = [
  { path: 'agent-run/review.json', text: TASK },
  { path: 'agent-run/review.schema.json', text: SCHEMA },
  { path: '.github/workflows/agent-run-review.yml', text: WORKFLOW },
];
