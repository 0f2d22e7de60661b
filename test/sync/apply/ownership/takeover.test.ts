import { describe, expect, it } from 'vitest';
import type { KubeObject, Metadata } from '../../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import { type DeclaredObject, planTakeover } from '../../../../src/sync/apply/ownership/takeover.ts';
import {
  APPLIED_BY_SYNC,
  configMap,
  entry,
  HUB,
  live,
  OTHER_HUB,
  OTHER_UNIT,
  terminating,
  UNIT,
  withLabels,
} from '../fixtures.ts';

const a = configMap('a');
const adopting = withMetadata(a, { annotations: { 'kubenode.dev/adopt': 'Allowed' } });
const ADOPTED = { annotations: { 'kubenode.dev/adopted': 'true' } };
const APPLIED_STATUS = [{ manager: 'kubenode-sync', operation: 'Apply' as const, subresource: 'status' }];
const SOMEBODY = [{ manager: 'somebody', operation: 'Update' as const }];
const theirs = withMetadata(a, { uid: 'their-uid', managedFields: SOMEBODY });
const unlabeled = withMetadata(a, { uid: 'uid-a', managedFields: APPLIED_BY_SYNC });
const copied = withMetadata(live(a), { uid: 'their-uid', managedFields: SOMEBODY });
const pipeline: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'Pipeline',
  metadata: { name: 'fleet', managedFields: SOMEBODY },
};
const INTENDED: InventoryEntry = { ...objectIdOf(a), version: 'v1', unit: UNIT, commit: 'x' };

describe('planTakeover', () => {
  it.each<[name: string, declared: Partial<DeclaredObject>, found: KubeObject, expected: string]>([
    ['refuses what somebody else created', {}, theirs, 'refuse: it exists, and kubenode did not create it'],
    ['refuses it although its write was intended', { entry: INTENDED }, theirs, 'refuse: it exists'],
    [
      'refuses what somebody recreated under our name',
      { entry: entry(a), force: true },
      theirs,
      'refuse: it exists',
    ],
    ['refuses copied labels', { entry: INTENDED }, copied, 'refuse: it exists'],
    [
      'refuses what sync only reports status on',
      {},
      withMetadata(theirs, { managedFields: APPLIED_STATUS }),
      'refuse: it exists',
    ],
    [
      'refuses what another hub owns, even to adopt it',
      { object: adopting },
      withLabels(live(a), OTHER_HUB),
      'refuse: another hub',
    ],
    [
      'refuses what another Pipeline owns, even to adopt it',
      { object: adopting },
      withLabels(live(a), OTHER_UNIT),
      'refuse: another Pipeline',
    ],
    [
      'refuses what another Pipeline created, although its write was intended',
      { entry: { ...INTENDED, unit: 'fleet.web' }, unit: 'fleet.web' },
      withLabels(live(a), { 'kubenode.dev/unit': 'another.web' }),
      'refuse: another Pipeline',
    ],
    ['waits for what is being deleted', { entry: INTENDED }, terminating(a), 'wait: being deleted'],
    [
      'adopts what git adopts, with force',
      { object: adopting },
      theirs,
      'write adopted force: adopted by git',
    ],
    ['confirms what sync created before a crash', { entry: INTENDED }, live(a), 'write: sync wrote it'],
    [
      'knows by the object that it was adopted, when the inventory is lost',
      {},
      withMetadata(live(a), ADOPTED),
      'write adopted: sync wrote it',
    ],
    [
      'hands over what moved to another unit before a crash',
      { entry: { ...INTENDED, unit: 'other', from: UNIT }, unit: 'other' },
      live(a),
      'write: sync wrote it',
    ],
    [
      'restores owner labels that somebody removed, with force for what git already set',
      { entry: entry(a), force: true },
      unlabeled,
      'write force: its owner labels were removed',
    ],
    [
      'remembers that it was adopted when its labels were removed',
      { entry: entry(a, { adopted: true }) },
      unlabeled,
      'write adopted: its owner labels were removed',
    ],
    [
      'takes back what it released, without force, and never to delete it',
      { force: true },
      unlabeled,
      'write adopted: sync managed it before',
    ],
    [
      'takes back what sync created, when only its labels were removed',
      {},
      withMetadata(unlabeled, { annotations: { 'kubenode.dev/commit': 'x' } }),
      'write: sync managed it before',
    ],
    [
      'takes back what git adopted, when only its labels were removed',
      {},
      withMetadata(unlabeled, { annotations: { 'kubenode.dev/commit': 'x', ...ADOPTED.annotations } }),
      'write adopted: sync managed it before',
    ],
    [
      'does not believe annotations that somebody copied',
      {},
      withMetadata(theirs, { annotations: { 'kubenode.dev/commit': 'x' } }),
      'refuse: it exists',
    ],
    [
      'takes over the Pipeline that brought the commit, without force',
      { id: objectIdOf(pipeline), object: pipeline, unit: 'fleet.pipelines' },
      pipeline,
      'write adopted: sync managed it before',
    ],
    [
      'refuses any other Pipeline',
      { id: objectIdOf(pipeline), object: pipeline, unit: 'another.pipelines' },
      pipeline,
      'refuse: it exists',
    ],
  ])('%s', (_name, declared, found, expected) => {
    const plan = { id: objectIdOf(a), unit: UNIT, object: a, force: false, ...declared };
    const takeover = planTakeover(plan, found, HUB);
    const how =
      takeover.action === 'write'
        ? `${takeover.adopted ? ' adopted' : ''}${takeover.force ? ' force' : ''}`
        : '';
    expect(`${takeover.action}${how}: ${takeover.because}`).toContain(expected);
  });
});

function withMetadata(object: KubeObject, metadata: Partial<Metadata>): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}
