import { describe, expect, it } from 'vitest';
import { activationWait } from '../../../src/agent/component/brakes.ts';
import type { ComponentInput } from '../../../src/agent/component/input.ts';
import type { Transition } from '../../../src/agent/journal/record.ts';
import { absent, FREE, present } from '../../support/agent/component-driver.ts';
import { componentInput, installed, V1, V2 } from '../../support/agent/component-input.ts';

const UPGRADE: Transition = {
  step: 'Staged',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'boot-1',
  boots: 0,
};
const REMOVAL: Transition = {
  step: 'Staged',
  entry: 'sha256:absent',
  direction: 'Forward',
  from: V1.id,
  bootId: 'boot-1',
  boots: 0,
};
const GRANT = { id: 'g1', entryDigest: V2.id, expired: false };
const DRAIN = { ...V2, activation: 'Drain' as const };

function wait(fields: Partial<ComponentInput>, transition = UPGRADE): string {
  const found = activationWait(componentInput(fields, { current: V1.id, state: 'Committed' }), transition);
  return found ? `${found.reason}: ${found.message}` : 'free';
}

describe('AGT-23 what keeps a staged version from being activated', () => {
  it.each<[string, Partial<ComponentInput>, string]>([
    ['nothing, with a grant', {}, 'free'],
    [
      'a hold of disruption',
      { brakes: { ...FREE, hold: 'Disruptive' } },
      'Held: the machine is held: remove spec.hold and the hold annotations to continue',
    ],
    [
      'a hold of everything',
      { brakes: { ...FREE, hold: 'All' } },
      'Held: the machine is held: remove spec.hold and the hold annotations to continue',
    ],
    [
      'an API server that does not answer',
      { brakes: { ...FREE, online: false } },
      'Offline: the API server does not answer: nothing new is started before it does',
    ],
    [
      'a repair job',
      { brakes: { ...FREE, jobRunning: true } },
      'JobRunning: a repair job is running on this machine',
    ],
    ['no grant', { desired: { state: 'Present', target: V2 } }, 'GrantNeeded: staged: waits for a grant'],
    [
      'a grant for another content',
      { desired: { state: 'Present', target: V2, grant: { ...GRANT, entryDigest: V1.id } } },
      'GrantNeeded: the grant g1 is for another content of the entry: waits for a new one',
    ],
    [
      'a grant that has expired',
      { desired: { state: 'Present', target: V2, grant: { ...GRANT, expired: true } } },
      'GrantNeeded: the grant g1 has expired: waits for a new one',
    ],
    [
      'a drain that is not done',
      {
        desired: present(DRAIN),
        targets: new Map([
          [V1.id, V1],
          [V2.id, DRAIN],
        ]),
      },
      'DrainPending: waits until the machine is drained for grant grant-1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'a drain for another grant',
      {
        desired: present(DRAIN),
        targets: new Map([
          [V1.id, V1],
          [V2.id, DRAIN],
        ]),
        brakes: { ...FREE, drainedFor: 'other' },
      },
      'DrainPending: waits until the machine is drained for grant grant-1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'nothing, once the machine is drained for this grant',
      {
        desired: present(DRAIN),
        targets: new Map([
          [V1.id, V1],
          [V2.id, DRAIN],
        ]),
        brakes: { ...FREE, drainedFor: 'grant-1.1' },
      },
      'free',
    ],
    [
      'an installed version that is not complete',
      { observed: installed(V2, { directories: new Set() }) },
      'NoWayBack: the installed version is not complete on this host, so that a rollback would fail. It is restored first',
    ],
    [
      'an installed version that is not stored',
      { targets: new Map([[V2.id, V2]]) },
      'NoWayBack: the installed version is not complete on this host, so that a rollback would fail. It is restored first',
    ],
  ])('%s', (_name, fields, expected) => {
    expect(wait(fields)).toBe(expected);
  });

  it('needs no previous version when the new one cannot be rolled back', () => {
    const oneWay = { ...V2, rollbackSupported: false };
    expect(wait({ targets: new Map([[V2.id, oneWay]]), desired: present(oneWay) })).toBe('free');
  });

  it.each([
    [undefined, 'DependencyNotCommitted: waits for runtime ≥ 1.7 ≤ 2.0, which is not committed'],
    ['1.6.9', 'DependencyNotCommitted: waits for runtime ≥ 1.7 ≤ 2.0, which has version 1.6.9'],
    ['2.1', 'DependencyNotCommitted: waits for runtime ≥ 1.7 ≤ 2.0, which has version 2.1'],
    ['1.7.2', 'free'],
  ])('waits for a dependency at version %s', (version, expected) => {
    const needs = { ...V2, dependsOn: [{ component: 'runtime', minVersion: '1.7', maxVersion: '2.0' }] };
    const others = new Map([
      ['runtime', { dependsOn: [], ...(version !== undefined && { committedVersion: version }) }],
    ]);
    expect(
      wait({
        desired: present(needs),
        targets: new Map([
          [V1.id, V1],
          [V2.id, needs],
        ]),
        others,
      }),
    ).toBe(expected);
  });

  it.each([
    ['kubenode-agent', 'proxy', 'ComponentChanging: waits until the change of proxy has ended'],
    ['proxy', 'kubenode-agent', 'ComponentChanging: waits until the change of kubenode-agent has ended'],
    ['proxy', 'runtime', 'free'],
  ])(
    'AGT-43 never changes the agent and another component at once: %s, while %s changes',
    (component, changing, expected) => {
      expect(wait({ component, changing })).toBe(expected);
    },
  );

  it('removes a component after those that depend on it', () => {
    const others = new Map([['kubelet', { committedVersion: '1.34', dependsOn: ['proxy'] }]]);
    expect(wait({ desired: absent(), others }, REMOVAL)).toBe(
      'StillNeeded: kubelet depends on it: remove that first',
    );
    expect(wait({ desired: absent() }, REMOVAL)).toBe('free');
  });
});
