import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { type NodeSyncOptions, planNodeSync } from '../../../../src/controllers/machine/node/sync.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { JsonPatchFailed, patchJson } from '../../../../src/sim/api-server/json-patch.ts';
import { machine, node } from '../../../support/builders.ts';
import {
  anyEditSteps,
  declaringMachine,
  type EditStep,
  editedNode,
  KEY_KINDS,
  modelOf,
  type NodeModel,
  nextVersion,
  reconciledModel,
  registeredNode,
  STARTUP_TAINT,
  taintCount,
  valuesOn,
  withoutRecord,
} from '../../../support/node-edits.ts';
import { runs } from '../../../support/sweep-size.ts';

type Texts = Readonly<Record<string, string>>;
interface NodeParts {
  readonly labels?: Texts;
  readonly annotations?: Texts;
  /** `key=value:effect` */
  readonly taints?: readonly string[];
  readonly owned?: object;
}

const MACHINE_LABEL = { 'kubenode.dev/machine': 'm' };
const OPTIONS: NodeSyncOptions = { mayEvict: true, removeStartupTaint: false };
const STARTUP = 'kubenode.dev/not-initialized=:NoSchedule';

function taint(text: string): { key: string; value?: string; effect: 'NoSchedule' | 'NoExecute' } {
  const [, key = '', value = '', effect] = /^(.*)=(.*):(.*)$/.exec(text) ?? [];
  return { key, ...(value === '' ? {} : { value }), effect: effect as 'NoSchedule' };
}

function desired({ labels, annotations, taints = [] }: NodeParts): Machine {
  const parts = { ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  return machine('m', { spec: { node: { ...parts, taints: taints.map(taint) } } });
}

function observed({
  labels,
  annotations,
  taints,
  owned = { labels: ['kubenode.dev/machine'] },
}: NodeParts): KubeObject {
  const metadata = {
    labels: { ...MACHINE_LABEL, ...labels },
    annotations: { ...annotations, 'kubenode.dev/owned': JSON.stringify(owned) },
  };
  return { ...node('m', 'True', metadata), spec: taints ? { taints: taints.map(taint) } : {} };
}

/** The Node after the patch. */
function synced(want: NodeParts, found: KubeObject, options: Partial<NodeSyncOptions> = {}): KubeObject {
  const { operations } = planNodeSync(desired(want), found, { ...OPTIONS, ...options });
  return patchJson(found, operations) as KubeObject;
}

function explain(found: KubeObject): string {
  const { labels = {}, annotations = {} } = found.metadata;
  const hidden = ['kubernetes.io/hostname', 'kubenode.dev/machine', 'kubenode.dev/owned'];
  const list = (map: Texts): string[] =>
    Object.entries(map)
      .filter(([key]) => !hidden.includes(key))
      .map(([key, value]) => `${key}=${value}`);
  const taints = ((found['spec'] as { taints?: ReturnType<typeof taint>[] }).taints ?? []).map(
    ({ key, value = '', effect }) => `${key}=${value}:${effect}`,
  );
  const owned = JSON.parse(annotations['kubenode.dev/owned'] ?? '{}') as Record<string, string[]>;
  const ours = ['labels', 'annotations', 'taints'].flatMap((kind) => owned[kind] ?? []);
  const own = ours.filter((key) => !hidden.includes(key));
  return `${[...list(labels), ...list(annotations), ...taints].join(' ')} | ${own.join(' ')}`;
}

const OWNED = { labels: ['kubenode.dev/machine', 'tier'], annotations: ['note'], taints: ['gpu:NoSchedule'] };

describe('planNodeSync', () => {
  it.each<[name: string, want: NodeParts, found: NodeParts, result: string]>([
    [
      'MAC-17 sets what is declared, and records it',
      { labels: { tier: 'web' }, annotations: { note: 'x' }, taints: ['gpu=:NoSchedule'] },
      {},
      'tier=web note=x gpu=:NoSchedule | tier note gpu:NoSchedule',
    ],
    [
      'MAC-17 corrects a manual edit of what is ours',
      { labels: { tier: 'web' }, annotations: { note: 'x' }, taints: ['gpu=1:NoSchedule'] },
      { labels: { tier: 'db' }, annotations: { note: 'y' }, taints: ['gpu=2:NoSchedule'], owned: OWNED },
      'tier=web note=x gpu=1:NoSchedule | tier note gpu:NoSchedule',
    ],
    [
      'MAC-17 sets what a person removed',
      { labels: { tier: 'web' }, taints: ['gpu=:NoSchedule'] },
      { owned: OWNED },
      'tier=web gpu=:NoSchedule | tier gpu:NoSchedule',
    ],
    [
      'MAC-17 removes what the Machine does not declare any more',
      {},
      { labels: { tier: 'web' }, annotations: { note: 'x' }, taints: ['gpu=:NoSchedule'], owned: OWNED },
      ' | ',
    ],
    [
      'MAC-17 never removes a key of others',
      {},
      { labels: { team: 'a' }, annotations: { by: 'b' }, taints: ['disk=:NoExecute'] },
      'team=a by=b disk=:NoExecute | ',
    ],
    [
      'MAC-17 never changes a key of others',
      { labels: { tier: 'web' }, annotations: { note: 'x' }, taints: ['gpu=1:NoSchedule'] },
      { labels: { tier: 'db' }, annotations: { note: 'y' }, taints: ['gpu=2:NoSchedule'] },
      'tier=db note=y gpu=2:NoSchedule | ',
    ],
    [
      'MAC-17 does not own a key that has the value already',
      { labels: { tier: 'web' }, taints: ['gpu=:NoSchedule'] },
      { labels: { tier: 'web' }, taints: ['gpu=:NoSchedule'] },
      'tier=web gpu=:NoSchedule | ',
    ],
    [
      'MAC-17 owns nothing of a record that cannot be read',
      {},
      { labels: { tier: 'web' }, owned: ['tier'] },
      'tier=web | ',
    ],
    [
      'MAC-17 treats a taint of another effect as another taint',
      { taints: ['gpu=:NoSchedule'] },
      { taints: ['gpu=:NoExecute'] },
      'gpu=:NoExecute gpu=:NoSchedule | gpu:NoSchedule',
    ],
    [
      'MAC-18 keeps the start-up taint',
      { taints: ['gpu=:NoSchedule'] },
      { taints: [STARTUP] },
      `${STARTUP} gpu=:NoSchedule | gpu:NoSchedule`,
    ],
  ])('%s', (...[, want, found, result]) => {
    const after = synced(want, observed(found));
    expect(explain(after)).toBe(result);
    expect(planNodeSync(desired(want), after, OPTIONS).operations).toEqual([]);
  });

  it('MAC-17 names what others have set to another value', () => {
    const want = { labels: { tier: 'web' }, annotations: { note: 'x' }, taints: ['gpu=1:NoSchedule'] };
    const found = observed({
      labels: { tier: 'db' },
      annotations: { note: 'y' },
      taints: ['gpu=2:NoSchedule'],
    });
    expect(planNodeSync(desired(want), found, OPTIONS).conflicts).toEqual([
      'label tier',
      'annotation note',
      'taint gpu:NoSchedule',
    ]);
  });

  it('MAC-17 labels the Node with its Machine, also one without labels or annotations', () => {
    const bare = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' }, spec: {} };
    const after = synced({ annotations: { note: 'x' } }, bare);
    expect([after.metadata.labels, explain(after)]).toEqual([MACHINE_LABEL, 'note=x | note']);
  });

  it('keeps what other controllers record in the same annotation', () => {
    const jobs = { 'kubenode.dev/disk': 'g-1' };
    const found = observed({ owned: { labels: ['kubenode.dev/machine'], jobs } });
    const after = synced({ labels: { tier: 'web' } }, found);
    expect(JSON.parse(after.metadata.annotations?.['kubenode.dev/owned'] ?? '')).toMatchObject({ jobs });
  });

  it('evicts no pods by a taint while a person forbids it', () => {
    const want = { taints: ['a=:NoExecute', 'b=:NoSchedule'] };
    const plan = planNodeSync(desired(want), observed({}), { ...OPTIONS, mayEvict: false });
    expect(plan.postponed).toEqual(['a:NoExecute']);
    expect(explain(synced(want, observed({}), { mayEvict: false }))).toBe('b=:NoSchedule | b:NoSchedule');
  });

  it('MAC-18 removes the start-up taint, and no other', () => {
    const found = observed({ taints: ['disk=:NoExecute', STARTUP] });
    expect(explain(synced({}, found, { removeStartupTaint: true }))).toBe('disk=:NoExecute | ');
  });

  it('MAC-17 keeps each key of others through any edits, and reaches what is declared', () => {
    fc.assert(
      fc.property(anyEditSteps, (steps) => {
        let current = registeredNode();
        for (const step of steps) {
          const edited = step.before.reduce(editedNode, current);
          const read = step.losesRecord ? withoutRecord(edited) : edited;
          const stale = writtenNode(read, step.during.reduce(editedNode, read), step);
          const before = modelOf(stale);
          current = writtenNode(stale, stale, step);
          expect(modelOf(current)).toEqual(reconciledModel(before, step));
          expect(taintCount(current)).toBe(valuesOn(current).taints.size);
          expect(changesOfOthers(before, current, step)).toEqual([]);
          expect(writtenNode(current, current, step)).toBe(current);
        }
      }),
      runs(1000, 20_000),
    );
  });
});

/** The Node after a write that was planned from what was read; the API server refuses it when the Node has changed since. */
function writtenNode(read: KubeObject, present: KubeObject, step: EditStep): KubeObject {
  const { operations } = planNodeSync(declaringMachine(step.declared), read, step);
  if (operations.length === 0) return present;
  const { resourceVersion } = read.metadata;
  const test = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion } as const;
  const next = { op: 'replace', path: test.path, value: nextVersion(present) } as const;
  try {
    return patchJson(present, [test, ...operations, next]) as KubeObject;
  } catch (error) {
    if (error instanceof JsonPatchFailed && read !== present) return present;
    throw error;
  }
}

/** Keys that others had set and that are different now; a start-up taint that was not there. */
function changesOfOthers(before: NodeModel, found: KubeObject, step: EditStep): readonly string[] {
  const after = valuesOn(found);
  const changed = KEY_KINDS.flatMap((kind) =>
    [...before.values[kind]]
      .filter(([key, value]) => !before.owned[kind].has(key) && after[kind].get(key) !== value)
      .map(([key]) => key),
  );
  const isAdded = after.taints.has(STARTUP_TAINT) && !before.values.taints.has(STARTUP_TAINT);
  const added = isAdded ? [STARTUP_TAINT] : [];
  return [...changed, ...added].filter((key) => !(step.removeStartupTaint && key === STARTUP_TAINT));
}
