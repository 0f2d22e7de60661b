/** The ladder of the rule for dead hosts: a power cycle, then another machine, then a person. */
import { describe, expect, it } from 'vitest';
import { deadHost } from '../../rules/dead-host.ts';
import type { NodeRemedier } from '../../src/api/generated/types.ts';
import { planRemedy } from '../../src/controllers/remedy/plan.ts';
import { ago, machine, NOW, node } from '../support/builders.ts';
import { withCrdDefaults } from '../support/crd-defaults.ts';
import { type JobParts, remedyJob } from '../support/remediers.ts';

const HOUR = 3600;
const RULE = withCrdDefaults('noderemediers', {
  apiVersion: 'kubenode.dev/v1alpha1' as const,
  kind: 'NodeRemedier' as const,
  metadata: { name: 'dead-host', annotations: { 'kubenode.dev/commit': '4f2c9e1a77b0' } },
  spec: deadHost as NodeRemedier['spec'],
});
const FOUND = {
  outcome: 'Match',
  because: 'nothing answers',
  since: new Date(ago(310)),
  isSinceKnown: true,
} as const;
const WITHIN = { targets: 40, unseen: 0, matched: 1, unknown: 0, limit: 2, percent: 5 };
const NODE = node('m-1', 'Unknown', { uid: 'node-uid-1' });
const DEAD = { ...NODE, status: { ...(NODE['status'] as object), nodeInfo: { bootID: 'boot-1' } } };

/** The rung that follows these jobs of the rule, or why none does. */
function next(...jobs: readonly JobParts[]): string {
  const { act, waits } = planRemedy({
    machine: machine('m-1'),
    node: DEAD,
    jobs: jobs.map((parts) => remedyJob({ remedier: 'dead-host', ...parts })),
    controlPlaneJob: undefined,
    rules: [{ remedier: RULE, digest: 'sha256:a', finding: FOUND, bound: WITHIN }],
    now: NOW,
  });
  return act?.rung.name ?? waits.get('dead-host')?.reason ?? 'nothing';
}

/** A job of the fault that is there now. */
function tried(index: number, outcome: NonNullable<JobParts['outcome']>): JobParts {
  return { index, outcome, begun: 290 - 60 * index, ended: 250 - 60 * index };
}

/** A job after which the host returned, so many hours ago. */
function returned(hoursAgo: number): JobParts {
  const begun = hoursAgo * HOUR;
  return { case: `0000000${hoursAgo}`, outcome: 'Succeeded', begun, ended: begun - 600 };
}

describe('the ladder of dead-host', () => {
  it.each<[string, readonly JobParts[], string]>([
    ['begins with the power', [], 'power-cycle'],
    ['replaces a host that did not return', [tried(1, 'Transient')], 'replace'],
    ['replaces a host that has no power switch', [tried(1, 'Permanent')], 'replace'],
    ['asks a person when Off was not read back', [tried(1, 'Ambiguous')], 'person'],
    ['asks a person without a MachineSet', [tried(1, 'Transient'), tried(2, 'Permanent')], 'person'],
    [
      'asks a person when no other machine is Ready in time',
      [tried(1, 'Transient'), tried(2, 'Transient')],
      'person',
    ],
    [
      'does nothing after a person was asked',
      [tried(1, 'Transient'), tried(2, 'Transient'), tried(3, 'HandedOff')],
      'HandedOff',
    ],
  ])('R37 the ladder, step by step, %s', (_, jobs, expected) => {
    expect(next(...jobs)).toBe(expected);
  });

  it.each<[string, readonly JobParts[], string]>([
    ['cycles a host that died once before today', [returned(3)], 'power-cycle'],
    ['replaces one that returned once, and not again', [returned(3), tried(1, 'Transient')], 'replace'],
    ['asks a person when a host dies a third time in a day', [returned(8), returned(3)], 'person'],
  ])('R26 the ladder, within a day, %s', (_, jobs, expected) => {
    expect(next(...jobs)).toBe(expected);
  });

  it('MAC-30 deletes no machine before another one is Ready, and proves the success on that one', () => {
    const { plan, verify } = RULE.spec.ladder.find(({ name }) => name === 'replace') ?? {};
    expect(plan?.map(({ step, with: input }) => ({ step, input }))).toEqual([
      { step: 'ReplaceMachine', input: { replacementFirst: true } },
    ]);
    expect(verify?.target).toBe('Replacement');
  });

  it('leaves each rung the time that its steps may take', () => {
    const { ladder, job } = RULE.spec;
    const machineDeletionSeconds = 7200;
    const replace = ladder.find(({ name }) => name === 'replace');
    expect(replace?.plan[0]?.timeoutSeconds).toBeGreaterThan(machineDeletionSeconds);
    for (const { plan, verify } of ladder) {
      const seconds = plan.map(({ timeoutSeconds }) => timeoutSeconds).reduce((sum, each) => sum + each, 0);
      expect(job.deadlineSeconds).toBeGreaterThanOrEqual(seconds + (verify?.timeoutSeconds ?? 0));
    }
  });
});
