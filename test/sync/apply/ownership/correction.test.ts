import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { correctionOf } from '../../../../src/sync/apply/ownership/correction.ts';
import { planTarget } from '../../../../src/sync/apply/plan.ts';
import type { DriftCorrection } from '../../../../src/sync/drift-history.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { type ApplyScenario, applyInput, COMMIT, configMap, entry, live, UNIT, unit } from '../fixtures.ts';

const a = configMap('a');
const git = [unit(UNIT, [a])];
const inventory = [entry(a)];

function correction(scenario: ApplyScenario, applied: KubeObject): DriftCorrection | undefined {
  const [plan] = planTarget(applyInput({ git, inventory, ...scenario })).objects;
  if (!plan) throw new Error('no plan');
  return correctionOf(plan, { applied, commit: COMMIT, foundAt: NOW, correctedAt: later(1) });
}

function changedBy(data: Record<string, string>, ...managers: readonly string[]): KubeObject {
  const object = live(configMap('a', data));
  const fieldsV1 = { 'f:data': Object.fromEntries(Object.keys(data).map((key) => [`f:${key}`, {}])) };
  const managedFields = managers.map((manager, index) => ({
    manager,
    operation: 'Update' as const,
    time: later(-10 - index).toISOString(),
    fieldsV1,
  }));
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

const FOUND = {
  object: 'ConfigMap default/a',
  unit: UNIT,
  foundAt: NOW.toISOString(),
  correctedAt: later(1).toISOString(),
  commit: COMMIT,
};

describe('correctionOf', () => {
  it('tells which fields differed, who had changed them and when, and what was written back', () => {
    expect(correction({ cluster: [changedBy({ key: 'foreign' }, 'kubectl-edit')] }, live(a))).toEqual({
      ...FOUND,
      change: 'Changed',
      fields: ['data.key'],
      managers: ['kubectl-edit'],
      changedAt: later(-10).toISOString(),
    });
  });

  it('names no manager where a field was removed', () => {
    expect(correction({ cluster: [changedBy({ other: 'x' }, 'kubectl-edit')] }, live(a))).toEqual({
      ...FOUND,
      change: 'Changed',
      fields: ['data.key'],
    });
  });

  it('is bounded, whatever names others choose', () => {
    const keys = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${'k'.repeat(200)}${n}`, 'git']));
    const theirs = Object.fromEntries(Object.keys(keys).map((key) => [key, 'theirs']));
    const many = configMap('a', keys);
    const managers = Array.from({ length: 9 }, (_, n) => `${n}${'\u001b[31m'.repeat(100)}`);
    const scenario = {
      git: [unit(UNIT, [many])],
      inventory: [entry(many)],
      cluster: [changedBy(theirs, ...managers)],
    };
    const found = correction(scenario, live(many));
    expect(found).toMatchObject({ fields: { length: 5 }, managers: { length: 3 } });
    const texts = [found?.fields, found?.managers].flatMap((each) => each ?? []);
    expect(texts.filter((text) => text.length > 128)).toEqual([]);
  });

  it('tells that a missing object was created again', () => {
    const created = { ...live(a), metadata: { ...live(a).metadata, uid: 'another' } };
    expect(correction({}, created)).toEqual({ ...FOUND, change: 'Deleted' });
  });

  it('tells that the labels of an object were removed, which hides it', () => {
    expect(correction({}, live(a))).toEqual({ ...FOUND, change: 'Changed', fields: ['metadata.labels'] });
  });

  it.each<[string, ApplyScenario, KubeObject]>([
    [
      'git changed the object',
      { git: [unit(UNIT, [configMap('a', { key: 'new' })])], cluster: [live(a)] },
      live(a),
    ],
    ['the object is new in git', { inventory: [] }, live(a)],
    [
      'git changed an object that was missing',
      { git: [unit(UNIT, [configMap('a', { key: 'new' })])] },
      live(configMap('a', { key: 'new' })),
    ],
    [
      'the server keeps a value in another form',
      { cluster: [live(configMap('a', { key: 'normal' }))] },
      live(configMap('a', { key: 'normal' })),
    ],
  ])('is nothing where %s', (_, scenario, applied) => {
    expect(correction(scenario, applied)).toBeUndefined();
  });
});
