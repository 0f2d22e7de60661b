import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { ObjectOutcome } from '../../../../src/sync/apply/apply-steps.ts';
import { planTarget } from '../../../../src/sync/apply/plan.ts';
import type { PrunePlan } from '../../../../src/sync/apply/prune/plan.ts';
import { postponedReason, unappliedObjects } from '../../../../src/sync/apply/prune/postpone.ts';
import { applyInput, configMap, entry, live, namespace, terminating, UNIT, unit } from '../fixtures.ts';

const CONFIG = configMap('old');
const WORKLOAD = workload('old');
const NEW_WORKLOAD = workload('new');
const USES = { applied: 'sha256:earlier' };

interface Row {
  readonly removed: KubeObject;
  /** Declared and not applied. */
  readonly missing: KubeObject;
  /** What the inventory lists for it. */
  readonly listed?: Parameters<typeof entry>[1];
  readonly unit?: string;
  readonly action?: PrunePlan['action'];
  readonly waits?: string;
}

describe('S5 a delete waits for what may replace or still use its object', () => {
  it.each<[name: string, row: Row]>([
    [
      'a renamed object',
      {
        removed: WORKLOAD,
        missing: NEW_WORKLOAD,
        waits: 'apps/Deployment default/new is applied, which may replace it',
      },
    ],
    [
      'an object of another kind in the same step',
      {
        removed: { ...WORKLOAD, apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
        missing: { ...NEW_WORKLOAD, apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' },
        waits: 'gateway.networking.k8s.io/HTTPRoute default/new is applied, which may replace it',
      },
    ],
    [
      'the configuration of a workload that is not updated yet',
      {
        removed: CONFIG,
        missing: NEW_WORKLOAD,
        listed: USES,
        waits: 'apps/Deployment default/new is applied, which may still use it',
      },
    ],
    [
      'a protected object, for everything that is missing in its unit',
      {
        removed: namespace('old'),
        missing: NEW_WORKLOAD,
        action: 'mark',
        waits: 'apps/Deployment default/new is applied, which may replace it',
      },
    ],
    [
      'a namespaced object that a cluster-scoped one may replace',
      {
        removed: WORKLOAD,
        missing: { ...NEW_WORKLOAD, metadata: { name: 'new' } },
        waits: 'apps/Deployment new is applied, which may replace it',
      },
    ],
    [
      'not: the configuration beside a new object that never was there',
      { removed: CONFIG, missing: NEW_WORKLOAD },
    ],
    [
      'not: an object in another namespace',
      { removed: inside('other', WORKLOAD), missing: NEW_WORKLOAD, listed: USES },
    ],
    ['not: an object of another unit', { removed: WORKLOAD, missing: NEW_WORKLOAD, unit: 'other' }],
    [
      'not: what exists no more or was never confirmed',
      { removed: WORKLOAD, missing: NEW_WORKLOAD, action: 'confirm' },
    ],
    ['not: what is released', { removed: WORKLOAD, missing: NEW_WORKLOAD, action: 'release' }],
  ])('%s', (_, { removed, missing, listed, unit: name = UNIT, action = 'delete', waits }) => {
    const plan = planTarget(
      applyInput({
        git: [unit(name, [missing])],
        inventory: listed ? [entry(missing, { ...listed, unit: name })] : [],
        unknown: ({ name: of }) => of === 'new',
      }),
    );
    const reason = postponedReason(
      { action, entry: entry(removed), because: 'removed from git' },
      unappliedObjects(plan, new Map()),
    );
    expect(reason).toBe(waits && `deleted after ${waits}`);
  });
});

describe('unappliedObjects', () => {
  it('leaves out what was applied, what matches, and what waits although git did not change it', () => {
    const [same, written, failed, waiting] = ['same', 'written', 'failed', 'waiting'].map((name) =>
      configMap(name),
    ) as [KubeObject, KubeObject, KubeObject, KubeObject];
    const plan = planTarget(
      applyInput({
        git: [unit(UNIT, [same, written, failed, waiting])],
        inventory: [entry(same), entry(waiting)],
        cluster: [live(same), terminating(waiting)],
      }),
    );
    const applied = plan.objects.find(({ id }) => id.name === 'written');
    const outcomes = new Map<string, ObjectOutcome>([
      ['ConfigMap default/written', { state: 'applied', plan: applied } as ObjectOutcome],
    ]);
    expect(unappliedObjects(plan, outcomes)).toMatchObject([
      { id: { name: 'failed' }, hasEarlierContent: false },
    ]);
  });
});

function workload(name: string): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'default' } };
}

function inside(space: string, { metadata, ...object }: KubeObject): KubeObject {
  return { ...object, metadata: { ...metadata, namespace: space } };
}
