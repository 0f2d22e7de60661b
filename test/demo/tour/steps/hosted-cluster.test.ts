import { describe, expect, it } from 'vitest';
import type { Cluster, Pipeline } from '../../../../src/api/generated/types.ts';
import { DELETES_HELD } from '../../../../src/api/status/sync-words.ts';
import {
  notAllReadyReason,
  notDeletedReason,
  notHeldReason,
  notHostedReason,
} from '../../../../src/demo/tour/steps/hosted-cluster.ts';
import { holdHint } from '../../../../src/sync/apply/prune/hold-hint.ts';
import { condition, machine } from '../../../support/builders.ts';

function clusterWith(status: object): Cluster {
  return { metadata: { name: 'ci-2' }, status } as Cluster;
}

function readyIs(status: 'True' | 'False'): Cluster {
  const ready = { ...condition('ControlPlaneReady', status), reason: 'EtcdNotReady', message: 'etcd starts' };
  return clusterWith({ conditions: [ready] });
}

function held(status: 'True' | 'False', message: string, reason = DELETES_HELD): Pipeline {
  const found = { ...condition('Held', status), reason, message };
  return { status: { conditions: [found] } } as unknown as Pipeline;
}

describe('a cluster that a commit adds', () => {
  it.each<[string, readonly Cluster[], RegExp]>([
    ['sync has not applied it', [], /^sync has not created Cluster ci-2 yet$/],
    ['hosting has not observed it', [clusterWith({ conditions: [] })], /^hosting has not observed ci-2 yet$/],
    ['a member starts', [readyIs('False')], /^EtcdNotReady: etcd starts$/],
    ['it is ready', [readyIs('True')], /^nothing$/],
  ])('is waited for while %s', (_, clusters, expected) => {
    expect(notHostedReason(clusters, 'ci-2') ?? 'nothing').toMatch(expected);
  });

  it('has as many machines as declared, and all of them Ready', () => {
    const well = machine('a', { status: { conditions: [condition('Ready', 'True')] } });
    const ill = machine('b', { status: { conditions: [condition('Ready', 'False')] } });
    expect(notAllReadyReason([well], 2)).toBe('1 machines, expected 2');
    expect(notAllReadyReason([well, ill], 2)).toMatch(/^Ready=False/);
    expect(notAllReadyReason([well, well], 2)).toBeUndefined();
  });

  it('is held by sync only while its condition names what a commit has to acknowledge', () => {
    const hint = holdHint({ unit: 'fleet.hub', planDigest: `sha256:${'0'.repeat(64)}` });
    expect(notHeldReason(undefined)).toBe('not held: ');
    expect(notHeldReason(held('False', hint))).toMatch(/^not held: acknowledge/);
    expect(notHeldReason(held('True', 'another reason'))).toBe('not held: another reason');
    expect(notHeldReason(held('True', `test: ${hint}`, 'PlanHeld'))).toMatch(/^not held: test: acknowledge/);
    expect(notHeldReason(held('True', hint))).toBeUndefined();
  });

  it('is deleted when its object is, and reports until then what it waits for', () => {
    const waiting = { reason: 'MachinesLeft', message: 'Machines are left: a' };
    expect(notDeletedReason([clusterWith({ hosted: { waiting } })], 'ci-2')).toBe(
      'MachinesLeft: Machines are left: a',
    );
    expect(notDeletedReason([clusterWith({})], 'ci-2')).toBe('ci-2 is being deleted');
    expect(notDeletedReason([], 'ci-2')).toBeUndefined();
  });
});
