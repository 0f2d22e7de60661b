import { describe, expect, it } from 'vitest';
import type { NodeRemedier } from '../../../../src/api/generated/types.ts';
import { explainRule, formatRule } from '../../../../src/cli/commands/why/rule.ts';
import { jobStory } from '../remedy/stories.ts';

const SPEC = {
  owner: { team: 'node-sre', runbook: 'docs/runbooks/kernel-hang.md' },
  rule: { conditions: { fact: 'node', path: '$.zone', operator: 'equal', value: 'a' }, clearSeconds: 60 },
  ladder: [
    { name: 'reboot', maxAttempts: 3, plan: [{ step: 'Cordon' }, { step: 'Reboot' }] },
    { name: 'person', maxAttempts: 1, plan: [{ step: 'HandOff' }] },
  ],
};

function remedier(digest: string | undefined, ladder: object = SPEC.ladder): NodeRemedier {
  const status =
    digest === undefined ? undefined : { ruleDigest: digest, commit: 'ffffffffffffffffff', conditions: [] };
  return { metadata: { name: 'kernel-hang' }, spec: { ...SPEC, ladder }, status } as unknown as NodeRemedier;
}

const JOB = jobStory('a drain that a budget blocks');

describe('explainRule', () => {
  it.each([
    ['Unchanged', remedier('sha256:ab12')],
    ['Changed', remedier('sha256:other')],
    ['Unknown', remedier(undefined)],
    ['NotFound', undefined],
  ])('R11 reports whether the rule behind a job is the present one: %s', (state, present) => {
    expect(explainRule(JOB, present)).toMatchObject({
      state,
      commit: JOB.spec.cause.commit,
      digest: 'sha256:ab12',
    });
  });

  it('lists what comes next: further attempts, then the other rungs', () => {
    expect(explainRule(JOB, remedier('sha256:ab12')).next).toEqual([
      'reboot again, up to 2 times',
      'person: HandOff',
    ]);
  });

  it('lists nothing for a rung that the ladder has no more', () => {
    expect(explainRule(JOB, remedier('sha256:ab12', SPEC.ladder.slice(1))).next).toEqual([]);
  });
});

describe('formatRule', () => {
  it('prints commit, runbook, what comes next, and the text of the rule', () => {
    expect(formatRule(explainRule(JOB, remedier('sha256:other')), 120)).toMatchInlineSnapshot(`
      "
        rule       kernel-hang of commit 4f2c9e1a77b0: the rule has changed since; below is the present one (now of commit
                   ffffffffffff)
        runbook    docs/runbooks/kernel-hang.md
        next       if this fails: reboot again, up to 2 times; then person: HandOff

      conditions:
        fact: node
        path: $.zone
        operator: equal
        value: a
      "
    `);
  });

  it('prints that a rule was removed', () => {
    expect(formatRule(explainRule(JOB, undefined), 120)).toContain('the rule was removed since');
  });
});
