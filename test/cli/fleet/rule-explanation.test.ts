import { describe, expect, it } from 'vitest';
import { diskPressure } from '../../../rules/disk-pressure.ts';
import { gpuXid } from '../../../rules/gpu-xid.ts';
import { kernelHang } from '../../../rules/kernel-hang.ts';
import type { NodeRemedier } from '../../../src/api/generated/types.ts';
import {
  type ExplainedNode,
  formatLeaves,
  formatRules,
  isReadBy,
  type RuleView,
  viewRule,
  viewsReadWhole,
} from '../../../src/cli/fleet/rule-explanation.ts';
import { type Reading, UNKNOWN_READING } from '../../../src/rules/compiled-rule.ts';

const READINGS: Readonly<Record<string, Reading>> = {
  'condition DiskPressure': { status: 'False', observedSeconds: 9000 },
  'condition FrequentTaskHung': { status: 'True', observedSeconds: 180 },
  'node ': { uptimeSeconds: 120 },
  'history CleanDisk,3600': { count: 0 },
};

/** The agent is silent: what it reports is unknown. */
const NODE: ExplainedNode = {
  machine: 'n',
  labels: { pool: 'general' },
  facts: {
    read: () => (ref) => READINGS[`${ref.fact} ${Object.values(ref.params).join()}`] ?? UNKNOWN_READING,
    unknownReason: (_, { fact }) => (fact === 'disk' ? 'nothing heard of the agent for 300 s' : undefined),
  },
};

function remedier(name: string, spec: object): NodeRemedier {
  const selectAll = { nodeSelector: { all: true } };
  const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'NodeRemedier', metadata: { name } };
  return { ...object, spec: { target: selectAll, ...spec } } as unknown as NodeRemedier;
}

const HANG = remedier('kernel-hang', kernelHang);
const DISK = remedier('disk-pressure', diskPressure);

describe('viewsReadWhole', () => {
  it('R21 has the views of all nodes that the gate of a rule counts, and none for other rules', () => {
    expect([...viewsReadWhole([HANG, remedier('gpu-xid', gpuXid)])]).toEqual(['machines', 'nodes', 'jobs']);
    expect([...viewsReadWhole([HANG, remedier('refused', {})])]).toEqual([]);
  });
});

describe('isReadBy', () => {
  it('is true for a fact of a gate or a condition, and false for a rule that is refused', () => {
    expect([isReadBy('node', [HANG]), isReadBy('workload', [HANG])]).toEqual([true, false]);
    expect(isReadBy('fleet', [HANG, remedier('gpu-xid', gpuXid)])).toBe(true);
    expect(isReadBy('fleet', [remedier('refused', {})])).toBe(false);
  });
});

describe('viewRule', () => {
  it('R29 has the outcome, and the values that decided', async () => {
    expect(await viewRule(HANG, NODE)).toMatchObject({
      rule: 'kernel-hang',
      mode: 'Enforce',
      outcome: 'Held',
      because: 'gate: node uptimeSeconds is 120, not at least 900',
    });
  });

  it('R29 has the reason why a fact is unknown, once', async () => {
    const view = await viewRule(DISK, NODE);
    expect(view.outcome).toBe('Indeterminate');
    expect(view.because).toBe(
      'disk imagefs usedPercent is unknown; disk imagefs risingSeconds is unknown; nothing heard of the agent for 300 s',
    );
  });

  it('has every comparison, also those that did not decide', async () => {
    const { leaves } = await viewRule(HANG, NODE);
    expect(leaves.map(({ of, truth }) => `${of} ${truth}`)).toEqual([
      'conditions True',
      'conditions True',
      'gate False',
    ]);
  });

  it('reports a rule whose target does not have the node', async () => {
    expect((await viewRule(DISK, { ...NODE, labels: { pool: 'gpu' } })).outcome).toBe('NotSelected');
    const target = { nodeSelector: { all: true }, exclude: { all: false, matchLabels: { pool: 'general' } } };
    expect((await viewRule(remedier('x', { ...kernelHang, target }), NODE)).outcome).toBe('NotSelected');
  });

  it('reports a rule that does not compile with its first problems', async () => {
    const view = await viewRule(
      remedier('broken', { ...kernelHang, rule: { conditions: { all: [] } } }),
      NODE,
    );
    expect(view).toMatchObject({ outcome: 'Refused', leaves: [] });
    expect(view.because).toContain('spec.rule.conditions.all: must not be empty');
  });
});

describe('formatRules', () => {
  it('lists rules that act or may act first', async () => {
    const views = [await viewRule(DISK, NODE), await viewRule(HANG, NODE)];
    expect(formatRules(views, 120)).toBe(`\
RULE            MODE      OUTCOME         WHY
kernel-hang     Enforce   Held            gate: node uptimeSeconds is 120, not at least 900
disk-pressure   Enforce   Indeterminate   disk imagefs usedPercent is unknown; disk imagefs risingSeconds is unknown;
                                          nothing heard of the agent for 300 s
`);
  });

  it('has a sentence for a cluster without rules', () => {
    expect(formatRules([], 80)).toBe('no rules: the cluster has no NodeRemedier\n');
  });
});

describe('formatLeaves', () => {
  it('lists every comparison with its answer, below conditions or gate', async () => {
    const view: RuleView = await viewRule(DISK, NODE);
    expect(formatLeaves(view, 120)).toBe(`\
conditions  no   condition DiskPressure status is "False", not "True"
            yes  condition DiskPressure observedSeconds is 9000
            ?    disk imagefs usedPercent is unknown: nothing heard of the agent for 300 s
            ?    disk imagefs risingSeconds is unknown: nothing heard of the agent for 300 s
gate        yes  history CleanDisk 3600 count is 0
`);
  });
});
