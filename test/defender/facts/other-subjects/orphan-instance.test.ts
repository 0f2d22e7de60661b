import { describe, expect, it } from 'vitest';
import { orphanInstanceKey } from '../../../../src/api/grants.ts';
import { orphanInstanceFacts } from '../../../../src/defender/facts/other-subjects/orphan-instance.ts';
import { ago, decideScene, entry, explain, machines, policy, type Scene } from '../../builders.ts';

const KEY = orphanInstanceKey('00000000-0000-4000-8000-000000000100');

function decideDeletion(scene: Scene = {}): string {
  const orphan = orphanInstanceFacts(KEY);
  const ask = {
    machine: KEY,
    action: 'DeleteInstance',
    risk: 'Machine',
    holder: { kind: 'Machine', name: 'm-100' },
    nodeUID: undefined,
  } as unknown as NonNullable<Scene['ask']>;
  return explain(decideScene({ machines: [...machines(10), ...(orphan ? [orphan] : [])], ask, ...scene }));
}

describe('orphanInstanceFacts', () => {
  it.each(['m-1', 'instance:m-1', 'instance:', `x${KEY}`, `${KEY}0`, KEY.toUpperCase()])(
    'knows no instance by the key %s',
    (key) => {
      expect(orphanInstanceFacts(key)).toBeUndefined();
    },
  );

  it('MAC-36 lets the Defender grant the deletion of an instance that no Machine has', () => {
    expect(decideDeletion()).toBe('granted');
  });

  it.each<[string, Scene, RegExp]>([
    [
      'a kill switch',
      { policies: [policy({ killSwitch: { engaged: true, scope: 'All', by: 'eva', reason: 'outage' } })] },
      /^KillSwitch \[fleet-default\]: kill switch engaged by eva: outage$/,
    ],
    [
      'a freeze',
      {
        policies: [
          policy({ freezes: [{ name: 'sale', from: ago(60), until: ago(-600), reason: 'sale', risks: [] }] }),
        ],
      },
      /^Freeze \[fleet-default\]: freeze sale/,
    ],
    [
      'a limit of the cluster that another act uses up',
      {
        policies: [policy({ concurrency: [{ name: 'all', per: 'Cluster', actions: [], max: 1 }] })],
        ledger: { grants: { 'm-2': entry('m-2') } },
      },
      /^ConcurrencyCluster \[fleet-default\]: cluster: 1 in work/,
    ],
    [
      'a ledger that recovers',
      { ledger: { recovering: true, recoveringSince: ago(10) } },
      /^LedgerRecovering: /,
    ],
  ])('MAC-36 lets %s stop that deletion', (_, scene, because) => {
    expect(decideDeletion(scene)).toMatch(because);
  });
});
