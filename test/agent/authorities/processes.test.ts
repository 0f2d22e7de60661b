import { describe, expect, it } from 'vitest';
import { type KubeletTargets, listKubelets } from '../../../src/agent/authorities/processes.ts';
import type { UnitDefinition, UnitStatus } from '../../../src/agent/host/port.ts';
import { agentUnit } from '../../support/agent/targets.ts';

const STATUS: UnitStatus = { defined: true, enabled: true, masked: false, active: 'Inactive', restarts: 0 };
const PROCESS = { pid: 7, startId: '100', startedAt: '2030-01-01T00:00:00Z' };
const RUNS: UnitStatus = { ...STATUS, active: 'Active', process: PROCESS };

function component(
  name: string,
  identity: 'Kubelet' | 'None' = 'Kubelet',
  unit: Partial<UnitDefinition> = {},
): KubeletTargets {
  return { current: { identity, units: [agentUnit(name, unit)] }, desired: { state: 'Orphaned' } };
}

async function list(
  statuses: Readonly<Record<string, UnitStatus>>,
  ...components: readonly KubeletTargets[]
): Promise<readonly string[] | undefined> {
  const units = { status: async ({ name }: UnitDefinition) => statuses[name] };
  const host = { units, node: { bootId: async () => 'boot-1' } };
  return await listKubelets(host as unknown as Parameters<typeof listKubelets>[0], components);
}

describe('listKubelets', () => {
  it('HOS-22 lists the processes of kubelets, with their boot', async () => {
    const statuses = { kubelet: RUNS, proxy: { ...RUNS, process: { ...PROCESS, pid: 8 } } };
    expect(await list(statuses, component('kubelet'), component('proxy', 'None'))).toEqual(['boot-1 7 100']);
  });

  it('HOS-22 lists the kubelet of a version that is being replaced, or that is not committed yet', async () => {
    const { current } = component('kubelet');
    const target = current ?? { identity: 'None', units: [] };
    const orphaned = { state: 'Orphaned' };
    expect(await list({ kubelet: RUNS }, { previous: target, desired: orphaned })).toEqual(['boot-1 7 100']);
    expect(await list({ kubelet: RUNS }, { desired: { state: 'Present', target } })).toEqual([
      'boot-1 7 100',
    ]);
  });

  it.each<[what: string, statuses: Readonly<Record<string, UnitStatus>>]>([
    ['a unit that the host does not have', {}],
    ['a unit that is stopped', { kubelet: STATUS }],
    ['a unit that has failed', { kubelet: { ...STATUS, active: 'Failed' } }],
  ])('HOS-22 lists no kubelet that does not run: %s', async (_, statuses) => {
    expect(await list(statuses, component('kubelet'))).toEqual([]);
  });

  it.each<UnitStatus['active']>(['Activating', 'Deactivating', 'Active'])(
    'HOS-22 knows nothing of a kubelet without a known process that is %s',
    async (active) => {
      expect(await list({ kubelet: { ...STATUS, active } }, component('kubelet'))).toBeUndefined();
    },
  );

  it('HOS-22 waits for no process of a hook that has ended', async () => {
    const hook = component('hook', 'Kubelet', { type: 'OneShot' });
    expect(await list({ hook: { ...STATUS, active: 'Active' } }, hook)).toEqual([]);
  });
});
