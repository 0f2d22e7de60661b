/** Whose cordon is on the Node × how the job ends: what the Node shows when the job is settled. */
import { describe, expect, it } from 'vitest';
import type { JobOutcome } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { planTaint } from '../../../src/controllers/remedyjob/plan/owned-taints.ts';
import {
  planSettlement,
  type SettleMode,
  settleMode,
} from '../../../src/controllers/remedyjob/plan/settlement.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { patchJson } from '../../../src/sim/api-server/json-patch.ts';
import { condition } from '../../support/builders.ts';
import { CORDONED, explained, GRANT, jobMachine, jobNode, observation, records, repairJob } from './jobs.ts';

const ENDS: readonly JobOutcome[] = [
  { class: 'Succeeded', reason: 'Verified' },
  { class: 'Transient', reason: 'NotVerified' },
  { class: 'Permanent', reason: 'Failed' },
  { class: 'Ambiguous', reason: 'AgentSilent' },
  { class: 'Superseded', reason: 'NodeReplaced' },
  { class: 'Cancelled', reason: 'RuleRefuted' },
  { class: 'Cancelled', reason: 'Held' },
  { class: 'HandedOff', reason: 'HandedOff' },
];
const NODES = {
  ours: jobNode(CORDONED),
  'of a person': jobNode({ spec: { unschedulable: true } }),
  'of another grant': jobNode({ ...CORDONED, annotations: { 'kubenode.dev/cordoned-by': 'g-9-1' } }),
  'removed by a person': jobNode({ annotations: CORDONED.annotations }),
  'not there': jobNode(),
};
type Cordon = keyof typeof NODES;

/** What the Node shows after every patch. */
function settled(node: KubeObject, outcome: JobOutcome): KubeObject {
  const job = repairJob({ status: { outcome, steps: records('s2 Succeeded') } });
  const decision = planSettlement(observation({ job, node }), outcome);
  if (decision.type !== 'PatchNode') return node;
  return settled(patchJson(node, decision.operations) as KubeObject, outcome);
}

function shown(node: KubeObject): string {
  const mark = node.metadata.annotations?.['kubenode.dev/cordoned-by'] ?? 'no mark';
  return `${isCordoned(node) ? 'cordoned' : 'open'}, ${mark}`;
}

const EXPECTED: Readonly<Record<Cordon, Readonly<Record<SettleMode, string>>>> = {
  ours: {
    Undo: 'open, no mark',
    KeepCordoned: `cordoned, ${GRANT.id}`,
    HandOver: 'cordoned, no mark',
  },
  'of a person': same('cordoned, no mark'),
  'of another grant': same('cordoned, g-9-1'),
  'removed by a person': {
    Undo: 'open, no mark',
    KeepCordoned: `open, ${GRANT.id}`,
    HandOver: 'open, no mark',
  },
  'not there': same('open, no mark'),
};

function same(text: string): Readonly<Record<SettleMode, string>> {
  return { Undo: text, KeepCordoned: text, HandOver: text };
}

const rows = (Object.keys(NODES) as Cordon[]).flatMap((cordon) =>
  ENDS.map((end) => [cordon, end.class, end.reason ?? '', end] as const),
);

describe('the cordon of a settled job', () => {
  it.each(rows)(
    'R34 is left as it has to be: a cordon that is %s, and the end %s because of %s',
    (cordon, _, __, end) => {
      expect(shown(settled(NODES[cordon], end))).toBe(EXPECTED[cordon][settleMode(repairJob(), end)]);
    },
  );

  it('R36 is not touched on another Node of the same name', () => {
    const node = jobNode({ ...CORDONED, uid: 'node-2' });
    for (const end of ENDS) expect(settled(node, end)).toBe(node);
  });

  it('R34 takes its taints along, and leaves those of others', () => {
    const disk = { key: 'kubenode.dev/disk', effect: 'NoSchedule' } as const;
    const gpu = jobNode({ spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } });
    const tainted = patchJson(gpu, planTaint(gpu, disk, GRANT.id)) as KubeObject;
    const spec = settled(tainted, { class: 'Succeeded' })['spec'];
    expect(spec).toEqual({ taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  });
});

describe('the settlement of a job', () => {
  const outcome = { class: 'Succeeded', message: 'the repair is verified' } as const;
  const job = repairJob({ status: { outcome, steps: records('s2 Succeeded') } });

  it('R36 reports the repair before it settles the grant, and the finalizer goes last', () => {
    const machine = jobMachine({ repairs: { total: 1, recent: [{ job: job.metadata.name }] } });
    expect(explained(planSettlement(observation({ job }), outcome))).toBe(
      'ReportMachine: the outcome is Succeeded',
    );
    const settling = planSettlement(observation({ job, machine }), outcome);
    expect(settling).toMatchObject({ type: 'SettleGrant', outcome: 'Succeeded', change: { undone: ['s2'] } });
    const conditions = [condition('Settled', 'True')];
    const done = { ...job, status: { ...job.status, outcome, conditions } };
    expect(explained(planSettlement(observation({ job: done, machine }), outcome))).toBe(
      'RemoveFinalizer: the grant is settled',
    );
  });

  it('R36 settles also when Machine and Node were deleted', () => {
    const found = observation({ job, machine: undefined, node: undefined });
    expect(explained(planSettlement(found, { class: 'Superseded' }))).toBe(
      'SettleGrant settledAt: Superseded',
    );
  });
});
