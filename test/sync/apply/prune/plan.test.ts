import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../../src/kube/objects/object-id.ts';
import { planTarget } from '../../../../src/sync/apply/plan.ts';
import { planDigestOf } from '../../../../src/sync/judge/delete-budget.ts';
import {
  type ApplyScenario,
  applyInput,
  configMap,
  entry,
  live,
  namespace,
  OTHER_HUB,
  OTHER_UNIT,
  terminating,
  UNIT,
  unit,
  withLabels,
} from '../fixtures.ts';

const a = configMap('a');
const b = configMap('b');
const keep = { ...a, metadata: { ...a.metadata, annotations: { 'kubenode.dev/prune': 'Never' } } };
const adopted = { ...a, metadata: { ...a.metadata, annotations: { 'kubenode.dev/adopted': 'true' } } };
const component: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'MachineComponent',
  metadata: { name: 'kubelet-1.31.4' },
};
const used = {
  ...live(component),
  status: { conditions: [{ type: 'InUse', status: 'True' }], machines: { current: 7 } },
};

describe('planUnitPrune', () => {
  it.each<[name: string, scenario: ApplyScenario, expected: string]>([
    [
      'deletes an object that was removed from git',
      { git: [unit(UNIT, [b])], inventory: [entry(a), entry(b)], cluster: [live(a), live(b)] },
      'delete ConfigMap default/a: removed from git',
    ],
    [
      'S3 deletes nothing that it cannot read',
      { git: [unit(UNIT, [])], inventory: [entry(a)], unknown: () => true },
      'keep ConfigMap default/a: ConfigMap cannot be read',
    ],
    [
      'reads an object by name that the watch does not show',
      { git: [unit(UNIT, [])], inventory: [entry(a)] },
      'confirm ConfigMap default/a: removed from git, and not observed',
    ],
    [
      'S4 releases an object that another hub has taken',
      { git: [unit(UNIT, [])], inventory: [entry(a)], cluster: [withLabels(live(a), OTHER_HUB)] },
      'release ConfigMap default/a: removed from git, but not ours: other-hub',
    ],
    [
      'S4 releases an object that another unit has taken',
      {
        git: [unit(UNIT, [])],
        inventory: [entry(a, { uid: 'another' })],
        cluster: [withLabels(live(a), OTHER_UNIT)],
      },
      'release ConfigMap default/a: removed from git, but not ours: other-unit',
    ],
    [
      'deletes an object that moved twice and still names its first unit',
      {
        git: [unit(UNIT, [b])],
        inventory: [entry(a, { from: 'second' }), entry(b)],
        cluster: [withLabels(live(a), OTHER_UNIT), live(b)],
      },
      'delete ConfigMap default/a: removed from git',
    ],
    [
      'S4 releases an object that is annotated to be kept',
      { git: [unit(UNIT, [b])], inventory: [entry(keep), entry(b)], cluster: [live(keep), live(b)] },
      'release ConfigMap default/a: removed from git, annotated kubenode.dev/prune: Never',
    ],
    [
      'releases an object that another client created, by the inventory',
      {
        git: [unit(UNIT, [b])],
        inventory: [entry(a, { adopted: true }), entry(b)],
        cluster: [live(a), live(b)],
      },
      'release ConfigMap default/a: removed from git; another client created it',
    ],
    [
      'releases an object that another client created, by its annotation',
      { git: [unit(UNIT, [b])], inventory: [entry(a), entry(b)], cluster: [live(adopted), live(b)] },
      'release ConfigMap default/a: removed from git; another client created it',
    ],
    [
      'waits for the finalizers of an object that is being deleted',
      { git: [unit(UNIT, [])], inventory: [entry(a)], cluster: [terminating(a)] },
      'confirm ConfigMap default/a: being deleted since 2030-01-01T00:00:00Z, finalizers x/y',
    ],
    [
      'S4 keeps a MachineComponent that machines run',
      { git: [unit(UNIT, [b])], inventory: [entry(component), entry(b)], cluster: [used, live(b)] },
      'keep kubenode.dev/MachineComponent kubelet-1.31.4: still in use by 7 machines: kept until no machine refers to it',
    ],
    [
      'S5 deletes nothing of a unit whose objects moved to another unit',
      { git: [unit('other', [a])], inventory: [entry(a)], cluster: [live(a)] },
      '',
    ],
  ])('%s', (_name, scenario, expected) => {
    expect(explain(scenario)).toBe(expected);
  });

  it('S2 holds a unit that renders to nothing until its plan is acknowledged', () => {
    const scenario: ApplyScenario = { inventory: [entry(a)], cluster: [live(a)] };
    const planDigest = planDigestOf({ unit: UNIT, deletes: [objectIdOf(a)] });
    expect(explain(scenario)).toBe(
      `held ConfigMap default/a: unit web renders to nothing: 1 objects would be deleted; plan ${planDigest}`,
    );
    expect(explain({ ...scenario, more: { acknowledgements: [{ unit: UNIT, planDigest }] } })).toBe(
      'delete ConfigMap default/a: removed from git',
    );
  });

  it('S4 deletes a protected object only when acknowledged, in two reconciles', () => {
    const web = namespace('web');
    const planDigest = planDigestOf({ unit: UNIT, deletes: [objectIdOf(web)] });
    const scenario = (more: object): ApplyScenario => ({
      git: [unit(UNIT, [b])],
      inventory: [entry(web, more), entry(b)],
      cluster: [live(web), live(b)],
    });
    const acknowledged = { more: { acknowledgements: [{ unit: UNIT, planDigest }] } };
    expect(explain(scenario({}))).toContain(
      'held Namespace web: protected objects would be deleted: Namespace web',
    );
    expect(explain({ ...scenario({}), ...acknowledged })).toContain('mark Namespace web');
    expect(explain({ ...scenario({ markedAt: '2030-01-01T00:00:00Z' }), ...acknowledged })).toContain(
      'delete Namespace web',
    );
  });
});

function explain(scenario: ApplyScenario): string {
  const { prune } = planTarget(applyInput(scenario));
  return prune.map((item) => `${item.action} ${objectKey(item.entry)}: ${item.because}`).join('; ');
}
