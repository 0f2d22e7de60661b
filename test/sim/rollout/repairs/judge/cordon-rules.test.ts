import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import {
  createCordonRules,
  type NodeWriter,
} from '../../../../../src/sim/rollout/repairs/judge/cordon-rules.ts';
import { judgedJob, judgedNode } from '../repair-objects.ts';

const FREE = judgedNode({});
const OURS = judgedNode({ mark: 'g-1', isCordoned: true });
const UNMARKED = judgedNode({ isCordoned: true });

function writes(
  changes: readonly (readonly [before: KubeObject, after: KubeObject, by?: Partial<NodeWriter>])[],
): readonly string[] {
  const rules = createCordonRules(() => 1000);
  const usual: NodeWriter = { isPerson: false, jobOf: () => judgedJob() };
  return changes.flatMap(([before, after, by]) =>
    rules.written({ atMs: 0, before, after }, { ...usual, ...by }),
  );
}

function handedOff(): RemedyOperationJob {
  return judgedJob({ outcome: 'HandedOff' });
}

describe('createCordonRules', () => {
  it('finds nothing when a job cordons and uncordons, or a person removes the cordon of a job', () => {
    expect(
      writes([
        [FREE, OURS],
        [OURS, FREE],
      ]),
    ).toEqual([]);
    expect(
      writes([
        [FREE, OURS],
        [OURS, judgedNode({ mark: 'g-1' }), { isPerson: true }],
      ]),
    ).toEqual([]);
  });

  it('R34 finds the cordon of a person that is removed', () => {
    const person = { isPerson: true };
    expect(
      writes([
        [FREE, UNMARKED, person],
        [UNMARKED, FREE],
      ]),
    ).toEqual(['the cordon of a person was removed']);
    expect(
      writes([
        [FREE, UNMARKED, person],
        [UNMARKED, FREE, person],
      ]),
    ).toEqual([]);
  });

  it('R34 finds a cordon that loses its mark, unless it is handed to a person', () => {
    expect(
      writes([
        [FREE, OURS],
        [OURS, UNMARKED],
      ]),
    ).toEqual(['a cordon without its mark']);
    const jobOf = handedOff;
    expect(
      writes([
        [FREE, OURS],
        [OURS, UNMARKED, { jobOf }],
      ]),
    ).toEqual([]);
    expect(writes([[FREE, UNMARKED]])).toEqual(['a cordon without its mark']);
  });

  it('knows the job for which a write cordons', () => {
    const rules = createCordonRules(() => 0);
    const job = judgedJob();
    const jobOf = (grant: string): typeof job | undefined => (grant === 'g-1' ? job : undefined);
    expect(rules.cordonedFor({ atMs: 0, before: FREE, after: OURS }, jobOf)).toBe(job);
    expect(rules.cordonedFor({ atMs: 0, before: OURS, after: OURS }, jobOf)).toBeUndefined();
  });
});
