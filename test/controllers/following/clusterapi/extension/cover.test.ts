import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD, LABEL_AGENT_BLOCKED } from '../../../../../src/api/names.ts';
import { planCover } from '../../../../../src/controllers/following/clusterapi/extension/cover.ts';
import type { Question } from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import type { MachineParts } from '../../../../support/builders.ts';
import { asked, entryOf, facts, OLD, ownedBy, rules, updatable } from './facts.ts';

const TO = 'v1.34.2';
const FROM = 'v1.34.1';

function questionTo(to: string): Question {
  return { current: asked(1, FROM), desired: asked(1, to) };
}

function textOf({ type, because }: { type: string; because: string }): string {
  return `${type} ${because}`;
}

describe('planCover', () => {
  it.each<[name: string, machine: MachineParts, decision: string]>([
    [
      'covers a version of which there is a kubelet',
      {},
      `Covered a component covers version ${TO} on each machine`,
    ],
    [
      'leaves one without agent to Cluster API',
      { status: { agent: undefined } as never },
      'Uncovered node-1 has no agent',
    ],
    [
      'leaves one whose agent is blocked to Cluster API',
      { metadata: { labels: { [LABEL_AGENT_BLOCKED]: 'stolen' } } },
      'Uncovered the agent of node-1 is blocked',
    ],
    [
      'leaves one without a kubelet among its components to Cluster API',
      { spec: { components: [] } },
      'Uncovered node-1 has no component that is its kubelet',
    ],
    [
      'leaves a pin of a person alone',
      { metadata: { managedFields: [ownedBy('kubectl')] } },
      'Uncovered kubelet of node-1 is pinned by another owner: remove the pin to have it follow Cluster API',
    ],
    [
      'has nothing replaced that a person holds',
      { spec: { hold: { reason: 'debugging', scope: 'Disruptive' } } as never },
      'Undecided node-1 is held: debugging',
    ],
    [
      'has nothing replaced that Cluster API holds',
      { metadata: { annotations: { [ANNOTATION_OWNER_HOLD]: 'ClusterPaused: it is' } } },
      'Undecided node-1 is held: ClusterPaused: it is',
    ],
  ])('CAP-05 answers for a machine as it is: %s', (_, parts, decision) => {
    const { metadata, spec, status } = parts;
    const whole = updatable(1);
    const machine = updatable(1, {
      metadata: { ...whole.metadata, ...metadata },
      spec: { components: [entryOf(OLD)], ...spec },
      ...(status ? { status } : {}),
    });
    expect(textOf(planCover(questionTo(TO), facts([machine])))).toBe(decision);
  });

  it('CAP-05 covers no version that no component is, and none that the rules forbid', () => {
    expect(textOf(planCover(questionTo('v1.35.0'), facts([updatable(1)])))).toBe(
      'Uncovered no MachineComponent is kubelet 1.35.0'.replace('1.35.0', 'v1.35.0'),
    );
    const forbidding = rules({ forbiddenReason: () => 'newer than the API server' });
    expect(textOf(planCover(questionTo(TO), facts([updatable(1)], { rules: forbidding })))).toBe(
      'Uncovered newer than the API server',
    );
  });

  it.each([
    [FROM, FROM],
    [undefined, TO],
    [FROM, undefined],
  ])('CAP-05 covers no other field than the version: %s to %s', (from, to) => {
    const decision = planCover({ current: asked(1, from), desired: asked(1, to) }, facts([updatable(1)]));
    expect(decision.type).toBe('Uncovered');
  });

  it('CAP-17 compares no more files than the kind permits', () => {
    const files = Array.from({ length: 201 }, (_, index) => ({ path: `/etc/${index}`, content: 'a' }));
    const desired = { ...asked(1, FROM), bootstrap: { files } };
    const decision = planCover(
      { current: { ...asked(1, FROM), bootstrap: {} }, desired },
      facts([updatable(1)]),
    );
    expect(textOf(decision)).toBe('Uncovered the KubeadmConfig has 201 files, and at most 200 are compared');
  });

  it('CAP-05 covers a MachineSet only with each of its machines', () => {
    const selector = { all: false, matchLabels: { pool: 'general' }, matchExpressions: [] };
    const set = (version: string, replicas: number): ReturnType<typeof asked> =>
      asked(9, version, { selector, replicas });
    const decide = (replicas: number, machines: readonly Machine[]): string =>
      planCover({ current: set(FROM, replicas), desired: set(TO, replicas) }, facts(machines)).type;
    expect(decide(2, [updatable(1), updatable(2)])).toBe('Covered');
    expect(decide(3, [updatable(1), updatable(2)])).toBe('Uncovered');
    expect(decide(0, [])).toBe('Uncovered');
    expect(decide(2, [updatable(1), updatable(2, { spec: { components: [] } })])).toBe('Uncovered');
  });
});
