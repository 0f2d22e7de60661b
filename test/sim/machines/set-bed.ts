/** A simulated cluster with one set, and without its controllers. */
import type { Machine } from '../../../src/api/generated/types.ts';
import { createSimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { createSimulatedCloud, type SimulatedCloud } from '../../../src/sim/machines/cloud.ts';
import { createSetJudge, type SetJudge } from '../../../src/sim/machines/judge/set-judge.ts';
import { createSet, SET, type SetPeople } from '../../../src/sim/machines/set-people.ts';
import { createRandom } from '../../../src/sim/random.ts';
import { putDefender } from '../../../src/sim/rollout/defender-objects.ts';
import { machine } from '../../support/builders.ts';

export interface SetBed extends SetPeople {
  readonly clock: { nowMs: number };
  readonly judge: SetJudge;
  readonly faults: () => readonly string[];
  /** As the set creates it. */
  readonly addMachine: (name: string, spec?: Partial<Machine['spec']>) => Machine;
  readonly addInstance: (of: Machine) => string;
}

export function createSetBed(seed = 1): SetBed {
  const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') };
  const nowMs = (): number => clock.nowMs;
  const random = createRandom(seed);
  const api = createSimulatedApi({
    nowMs,
    changed: (change) => judge.written(change),
  });
  const cloud: SimulatedCloud = createSimulatedCloud({
    nowMs,
    random,
    isCalm: () => true,
    created: (instance) => judge.created(instance),
    deleting: (instance) => judge.deleting(instance),
  });
  const hosts: SetPeople['hosts'] = new Map();
  const judge = createSetJudge({ api, cloud, hosts, nowMs });
  const people: SetPeople = {
    api,
    random,
    nowMs,
    cloud,
    hosts,
    machines: 4,
    asPerson: (act) => judge.asPerson(act),
  };
  putDefender(api, { machines: 4, max: '50%' });
  createSet(people);
  return {
    ...people,
    clock,
    judge,
    faults: () => judge.violations.map(({ what }) => what),
    addMachine: (name, spec = {}) => {
      const { status: _, metadata, ...rest } = machine(name, { spec });
      const labels = { 'kubenode.dev/machineset': SET };
      const named = { name: metadata.name, labels, finalizers: ['kubenode.dev/machine'] };
      return api.put({ ...rest, metadata: named }) as Machine;
    },
    addInstance: ({ metadata: { name, uid = '' } }) =>
      cloud.create({
        machine: name,
        tags: { clusterUid: 'cluster-1', machineUid: uid },
        config: {},
        host: 'sandbox',
      }),
  };
}
