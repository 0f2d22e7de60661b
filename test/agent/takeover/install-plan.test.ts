import { describe, expect, it } from 'vitest';
import {
  type InstallInput,
  type InstallObservation,
  planInstall,
} from '../../../src/agent/takeover/install-plan.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const UNIT = { machine: 'n1', program: '/usr/local/lib/kubenode/kubenode-agent', port: 0 };
const RECORD = {
  machine: 'n1',
  machineUid: 'u1',
  at: NOW.toISOString(),
  version: '1.0',
  created: ['/opt'],
  before: ['/var/lib/dpkg'],
  unit: UNIT,
  keepsProgram: false,
};
const { keepsProgram, ...REST } = RECORD;
const WITH_REGISTRIES = { ...REST, registries: ['abc'], keepsProgram };
const NEW: InstallObservation = {
  missing: ['/opt'],
  present: ['/var/lib/dpkg'],
  hasProgram: false,
  canConnect: false,
};
const DONE: InstallObservation = {
  record: RECORD,
  missing: [],
  present: ['/var/lib/dpkg', '/var/lib/kubelet'],
  hasProgram: true,
  linked: UNIT.program,
  unitStatus: { defined: true, enabled: true, active: 'Inactive' },
  canConnect: false,
};
const ACTIVE = { defined: true, enabled: true, active: 'Active' } as const;

function plan(observed: InstallObservation, fields: Partial<InstallInput> = {}): string {
  const input = {
    owner: { machine: 'n1', machineUid: 'u1' },
    version: '1.0',
    unit: UNIT,
    keepsProgram: false,
    observed,
    now: NOW,
    ...fields,
  };
  return planInstall(input)
    .map(({ type, because }) => `${type}: ${because}`)
    .join('; ');
}

const PROGRAM = '/usr/local/lib/kubenode/kubenode-agent is not this program';

describe('planInstall', () => {
  it.each<[name: string, observed: InstallObservation, expected: string]>([
    [
      'records first what it takes over, and starts nothing without a certificate',
      NEW,
      `WriteRecord: recorded before anything is changed; CopyProgram: ${PROGRAM}; ` +
        'LinkProgram: /var/lib/kubenode/agent/program is missing; WriteUnit: the unit has another definition; ' +
        'EnableUnit: the unit does not start at boot',
    ],
    ['does nothing twice', DONE, ''],
    ['keeps what is recorded about credentials of registries', { ...DONE, record: WITH_REGISTRIES }, ''],
    [
      'starts the agent that can connect',
      { ...DONE, canConnect: true },
      'StartUnit: the agent can reach its API server',
    ],
    ['leaves an agent that runs', { ...DONE, canConnect: true, unitStatus: ACTIVE }, ''],
    [
      'restarts an agent whose program is replaced',
      { ...DONE, canConnect: true, unitStatus: ACTIVE, hasProgram: false },
      `StopUnit: the unit runs what was there before; CopyProgram: ${PROGRAM}; StartUnit: the agent can reach its API server`,
    ],
    [
      'stops an agent before its unit is replaced',
      { ...DONE, canConnect: true, unitStatus: { ...ACTIVE, defined: false } },
      'StopUnit: the unit runs what was there before; WriteUnit: the unit has another definition; ' +
        'EnableUnit: the unit does not start at boot; StartUnit: the agent can reach its API server',
    ],
    [
      'leaves an agent that an upgrade brought',
      {
        ...DONE,
        canConnect: true,
        unitStatus: ACTIVE,
        hasProgram: false,
        linked: '/opt/kubenode/kubenode-agent/2/x',
      },
      `CopyProgram: ${PROGRAM}`,
    ],
    [
      'continues after a kill behind the record',
      { ...DONE, hasProgram: false, unitStatus: { defined: true, enabled: false, active: 'Inactive' } },
      `CopyProgram: ${PROGRAM}; EnableUnit: the unit does not start at boot`,
    ],
  ])('MAC-10 plans an install that %s', (_, observed, expected) => {
    expect(plan(observed)).toBe(expected);
  });

  it('keeps what was missing at the first time, and adds a UID that is known later', () => {
    const { machineUid: _unknown, ...image } = RECORD;
    const observed = { ...DONE, record: image, missing: ['/other'] };
    const [action] = planInstall({ ...INPUT, observed });
    expect(action).toMatchObject({ type: 'WriteRecord', record: RECORD });
  });

  it('writes the record only on a host without systemd', () => {
    const { unit: _none, ...input } = { ...INPUT, observed: NEW };
    expect(planInstall(input).map(({ type }) => type)).toEqual(['WriteRecord']);
  });
});

const INPUT = {
  owner: { machine: 'n1', machineUid: 'u1' },
  version: '1.0',
  unit: UNIT,
  keepsProgram: false,
  now: NOW,
};
