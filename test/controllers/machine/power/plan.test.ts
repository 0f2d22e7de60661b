import { describe, expect, it } from 'vitest';
import type { Machine, MachinePower } from '../../../../src/api/generated/types.ts';
import {
  type PowerReading,
  planPowerRead,
  reportedPower,
} from '../../../../src/controllers/machine/power/plan.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, condition, machine, NOW } from '../../../support/builders.ts';

const BMC = {
  address: 'https://bmc.example',
  credentialsRef: { name: 'bmc' },
  certificateFingerprint: 'SHA256:x',
} as Machine['spec']['bmc'] & object;

interface Parts {
  readonly spec?: Partial<Machine['spec']>;
  readonly isDeleting?: boolean;
  readonly kubelet?: 'True' | 'False' | 'Unknown' | 'none';
  readonly agent?: 'none' | { readonly ageMs?: number; readonly unreportedMs?: number };
  readonly lastSeconds?: number;
  readonly isReading?: boolean;
}

function host({ spec = { bmc: BMC }, isDeleting = false }: Pick<Parts, 'spec' | 'isDeleting'>): Machine {
  const object = machine('m', { spec: { infra: { provider: 'ssh', config: {} }, ...spec } });
  return isDeleting ? { ...object, metadata: { ...object.metadata, deletionTimestamp: ago(1) } } : object;
}

function nodeOf(kubelet: NonNullable<Parts['kubelet']>): KubeObject | undefined {
  if (kubelet === 'none') return undefined;
  const status = { conditions: [condition('Ready', kubelet)] };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' }, status };
}

function decide(parts: Parts): string {
  const { kubelet = 'Unknown', agent = {}, lastSeconds, isReading = false } = parts;
  const decision = planPowerRead({
    machine: host(parts),
    node: nodeOf(kubelet),
    heartbeat: agent === 'none' ? undefined : { ageMs: 60_000, unreportedMs: 0, hasChanged: true, ...agent },
    last: lastSeconds === undefined ? undefined : { at: new Date(ago(lastSeconds)), state: 'Off' },
    isReading,
    now: NOW,
  });
  const until = 'until' in decision ? decision.until : undefined;
  return until ? `${decision.type} ${(+until - +NOW) / 1000} s` : decision.type;
}

describe('planPowerRead', () => {
  it.each<[name: string, parts: Parts, expected: string]>([
    ['a silent host with a BMC', {}, 'Read'],
    [
      'a silent host of a pool, whose entry may name a BMC',
      { spec: { infra: { provider: 'ssh', config: { pool: 'a' } } } },
      'Read',
    ],
    ['no host without a BMC', { spec: {} }, 'Forget'],
    ['no instance of a cloud', { spec: { infra: { provider: 'aws', config: {} }, bmc: BMC } }, 'Forget'],
    ['no machine that is being deleted', { isDeleting: true }, 'Forget'],
    ['no host whose kubelet reports', { kubelet: 'True', lastSeconds: 10 }, 'Forget'],
    ['no host whose kubelet reports that it is not ready', { kubelet: 'False' }, 'Forget'],
    ['no host that never had a Node', { kubelet: 'none' }, 'Forget'],
    ['no host whose agent reports', { agent: { ageMs: 45_000 }, lastSeconds: 10 }, 'Forget'],
    ['a host whose agent has just become silent', { agent: { ageMs: 45_001 } }, 'Read'],
    ['no host whose agent was never heard of', { agent: 'none' }, 'Forget'],
    [
      'no host whose silence is not reported, because many are silent',
      { agent: { unreportedMs: 1 } },
      'Forget',
    ],
    ['nothing that was just read', { lastSeconds: 10 }, 'Wait 110 s'],
    ['a host that was read a while ago', { lastSeconds: 120 }, 'Read 480 s'],
    ['a host whose last reading is in the future', { lastSeconds: -5 }, 'Read 605 s'],
    ['a host whose last reading is too old to be known', { lastSeconds: 600 }, 'Read'],
    ['nothing twice at the same time', { isReading: true }, 'Wait'],
    [
      'nothing twice, and drops what becomes too old meanwhile',
      { isReading: true, lastSeconds: 300 },
      'Wait 300 s',
    ],
  ])('reads %s', (_, parts, expected) => {
    expect(decide(parts)).toBe(expected);
  });
});

describe('reportedPower', () => {
  const at = new Date(ago(60));
  const since = at.toISOString();
  const before = { state: 'Off', since: ago(500) } as const;

  it.each<
    [name: string, before: MachinePower | undefined, last: PowerReading | undefined, expected: unknown]
  >([
    ['nothing before the first reading', before, undefined, undefined],
    ['the first reading', undefined, { at, state: 'Off' }, { state: 'Off', since }],
    ['the same state since it began', before, { at, state: 'Off' }, before],
    ['another state since now', before, { at, state: 'On' }, { state: 'On', since }],
    [
      'no state that is about to change',
      before,
      { at, state: 'Changing' },
      { state: 'Unknown', since, message: 'the power is changing' },
    ],
    [
      'why a BMC told nothing',
      before,
      { at, state: 'Unknown', message: 'refused' },
      { state: 'Unknown', since, message: 'refused' },
    ],
    ['nothing that is too old', before, { at: new Date(ago(600)), state: 'Off' }, undefined],
  ])('reports %s', (_, power, last, expected) => {
    const object = machine('m', { status: power ? { power } : {} });
    expect(reportedPower(object, last, NOW)).toEqual(expected);
  });
});
