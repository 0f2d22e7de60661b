/** Six machines with their Nodes, of which the first is the patient of a test. */
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { JobRelease, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import { createSimulatedApi } from '../../../../src/sim/api-server/simulated-api.ts';
import { createRandom, type Random } from '../../../../src/sim/random.ts';
import { bootIdOfHost, type SimulatedHost, stepHost } from '../../../../src/sim/rollout/hosts.ts';
import { addMachine, type PeopleContext } from '../../../../src/sim/rollout/people.ts';
import { createRepairJudge } from '../../../../src/sim/rollout/repairs/judge/repair-judge.ts';
import {
  type Patient,
  patientOf,
  type RepairsContext,
} from '../../../../src/sim/rollout/repairs/sick-machine.ts';
import { judgedJob } from './repair-objects.ts';

export interface Hospital {
  readonly context: RepairsContext;
  readonly host: SimulatedHost;
  readonly patient: Patient;
  readonly clock: { nowMs: number };
}

/** `random`: instead of chance. */
export function createHospital(random: Partial<Random> = {}): Hospital {
  const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') };
  const nowMs = (): number => clock.nowMs;
  const api = createSimulatedApi({ nowMs, changed: (change) => judge?.written(change) });
  const hosts = new Map<string, SimulatedHost>();
  const people: PeopleContext = { api, random: createRandom(3), nowMs, hosts, versions: new Map() };
  const judge = createRepairJudge({ api, nowMs, hosts, maxUnavailable: 1 });
  const context: RepairsContext = {
    ...people,
    random: { ...people.random, ...random },
    judge,
    broken: undefined,
    power: undefined,
    patients: new Map(),
  };
  for (let index = 0; index < 6; index += 1) addMachine(people);
  for (const each of hosts.values()) {
    stepHost(each, { ...people, version: () => ({ behaviorOn: () => 'Good', needsDrain: false }) });
  }
  const [host] = hosts.values();
  if (!host) throw new Error('there are machines');
  return { context, host, patient: patientOf(context, host.name, host.uid), clock };
}

/** Of its first step, for the present boot. */
export function jobOn(
  { context, clock }: Hospital,
  name: string,
  release?: Partial<JobRelease>,
): RemedyOperationJob {
  const host = context.hosts.get(name);
  if (!host) throw new Error(`there is no host ${name}`);
  const node = { uid: context.api.get(NODES, name)?.metadata.uid ?? '', bootID: bootIdOfHost(host) };
  const later = (seconds: number): string => new Date(clock.nowMs + seconds * 1000).toISOString();
  const base = judgedJob({ machine: name, uid: `job-${name}` });
  const { uid = '' } = context.api.get(MACHINES, name)?.metadata ?? {};
  const released = {
    step: 's1',
    try: 1,
    fence: 1,
    nodeUID: node.uid,
    bootID: node.bootID,
    notAfter: later(55),
  };
  return {
    ...base,
    spec: {
      ...base.spec,
      machine: { name, uid },
      node,
      deadline: later(3600),
      grant: { ...base.spec.grant, notAfter: later(300) },
    },
    status: { conditions: [], ...(release ? { release: { ...released, ...release } } : {}) },
  };
}
