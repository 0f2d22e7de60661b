import { describe, expect, it } from 'vitest';
import type { ComponentInput } from '../../../../src/agent/component/input.ts';
import { keptUnits } from '../../../../src/agent/component/transition/steps.ts';
import type { Transition } from '../../../../src/agent/journal/record.ts';
import {
  componentInput,
  EMPTY_HOST,
  explain,
  installed,
  V1,
  V2,
} from '../../../support/agent/component-input.ts';
import { agentFile, agentUnit, target } from '../../../support/agent/targets.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const UPGRADE: Transition = {
  step: 'Fetching',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'boot-1',
  boots: 0,
};
const BACK: Transition = {
  ...UPGRADE,
  direction: 'Back',
  failure: { code: 'UnitFailed', message: 'unit proxy failed' },
};
const FAILURE = { code: 'Download', message: 'not found', retryAt: new Date(NOW.getTime() + 1000) };

function upgrade(transition: Partial<Transition>, fields: Partial<ComponentInput> = {}): string {
  return explain(
    componentInput(fields, { current: V1.id, state: 'Committed', transition: { ...UPGRADE, ...transition } }),
  );
}

const STOPPED = new Map([
  ['proxy', { defined: true, enabled: true, masked: false, active: 'Inactive', restarts: 0 } as const],
]);
const FAILED = new Map([
  ['proxy', { defined: true, enabled: true, masked: false, active: 'Failed', restarts: 0 } as const],
]);

describe('keptUnits', () => {
  it('AGT-20 are those that ran before and are not stopped: of the version before, and of the host', () => {
    const [ours, hosts] = [agentUnit('proxy'), agentUnit('sshd', { existing: true })];
    const before = target('1.0', { units: [ours] });
    const after = {
      ...before,
      id: 'after',
      activation: 'None' as const,
      units: [ours, hosts, agentUnit('added')],
    };
    const input = componentInput({ targets: new Map([before, after].map((each) => [each.id, each])) });
    const transition = { ...UPGRADE, from: before.id, to: after.id };
    expect([...keptUnits(input, transition)]).toEqual(['proxy', 'sshd']);
  });
});

describe('the steps of a transition', () => {
  it.each<[string, Partial<Transition>, Partial<ComponentInput>, string]>([
    [
      'stops what runs',
      { step: 'Stopping' },
      {},
      'StopUnit proxy, record Swapped Forward to 1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'stops what has failed, so that a later failure is one of the new version',
      { step: 'Stopping' },
      { observed: installed(V1, { units: FAILED }) },
      'StopUnit proxy, record Swapped Forward to 1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'stops nothing that does not run',
      { step: 'Stopping' },
      { observed: installed(V1, { units: STOPPED }) },
      'record Swapped Forward to 1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'swaps files, links and units',
      { step: 'Swapped' },
      {
        observed: installed(V1, {
          units: new Map([['proxy', { ...STOPPED.get('proxy'), defined: false } as never]]),
        }),
      },
      'WriteFile /etc/proxy/proxy.conf, Link /usr/local/bin/proxy, Link /opt/kubenode/proxy/current, WriteUnit proxy, record Starting Forward to 1.1: files, links and units are in place',
    ],
    [
      'swaps nothing twice',
      { step: 'Swapped' },
      { observed: installed(V2) },
      'record Starting Forward to 1.1: files, links and units are in place',
    ],
    [
      'starts what does not run',
      { step: 'Starting' },
      { observed: installed(V2, { units: STOPPED }) },
      'StartUnit proxy, record Probation Forward to 1.1: started',
    ],
    [
      'starts nothing that runs',
      { step: 'Starting' },
      { observed: installed(V2) },
      'record Probation Forward to 1.1: started',
    ],
    [
      'goes back when a unit failed after its start',
      { step: 'Starting' },
      { observed: installed(V2, { units: FAILED }) },
      'record Stopping Back to 1.1: unit proxy failed after it was started',
    ],
    [
      'goes back when the swap fails',
      { step: 'Swapped' },
      { failure: { code: 'DiskFull', message: 'the disk is full', retryAt: NOW } },
      'record Stopping Back to 1.1: the disk is full',
    ],
    [
      'stops again after a reboot in the middle of the swap',
      { step: 'Swapped', bootId: 'boot-0' },
      {},
      'record Stopping Forward to 1.1: the machine rebooted during Swapped',
    ],
    [
      'AGT-22 starts again after the first reboot in probation',
      { step: 'Probation', bootId: 'boot-0' },
      {},
      'record Starting Forward to 1.1 after 1 boots: the machine rebooted during Probation',
    ],
    [
      'AGT-22 goes back after the second reboot in probation',
      { step: 'Probation', bootId: 'boot-0', boots: 1 },
      {},
      'record Stopping Back to 1.1 after 1 boots: the machine rebooted 2 times before the version was committed',
    ],
    [
      'goes on after the reboot that it asked for',
      { step: 'Rebooting', bootId: 'boot-0' },
      {},
      'record Starting Forward to 1.1: rebooted',
    ],
    ['asks for the reboot', { step: 'Rebooting' }, {}, 'Reboot'],
  ])('%s', (_name, transition, fields, expected) => {
    expect(upgrade(transition, fields)).toBe(expected);
  });

  it.each<[string, Transition['step'], Partial<ComponentInput>, string]>([
    [
      'stops the new version',
      'Stopping',
      { observed: installed(V2) },
      'StopUnit proxy, record Swapped Back to 1.1: artifact changed, unit proxy changed, file /etc/proxy/proxy.conf changed',
    ],
    [
      'swaps the old content in',
      'Swapped',
      { observed: installed(V2) },
      'WriteFile /etc/proxy/proxy.conf, Link /usr/local/bin/proxy, Link /opt/kubenode/proxy/current, record Starting Back to 1.1: files, links and units are in place',
    ],
    [
      'starts the old version',
      'Starting',
      { observed: installed(V1, { units: STOPPED }) },
      'StartUnit proxy, record Probation Back to 1.1: started',
    ],
    [
      'gives up when the old version does not start either',
      'Starting',
      { observed: installed(V1, { units: FAILED }) },
      'record Failed at 1.0 denying 1.1: the previous version does not start: unit proxy failed after it was started',
    ],
    [
      'gives up when the start of the old version throws',
      'Starting',
      { failure: { code: 'UnitFailed', message: 'exit 1', retryAt: NOW } },
      'record Failed at 1.0 denying 1.1: the previous version does not start: exit 1',
    ],
    [
      'tries again when the disk is full during the rollback',
      'Swapped',
      { failure: { ...FAILURE, code: 'DiskFull', message: 'the disk is full' } },
      'wait RetryPending: the disk is full. It is tried again at 2030-01-01T12:00:01.000Z',
    ],
  ])('AGT-21 during a rollback, the agent %s', (_name, step, fields, expected) => {
    expect(upgrade({ ...BACK, step }, fields)).toBe(expected);
  });

  it('records Failed and turns nothing when the version cannot be rolled back', () => {
    const noWayBack = target('1.1', { rollbackSupported: false, id: V2.id });
    const targets = new Map([
      [V1.id, V1],
      [V2.id, noWayBack],
    ]);
    expect(upgrade({ step: 'Starting' }, { targets, observed: installed(V2, { units: FAILED }) })).toBe(
      'record Failed at 1.1 denying 1.1: unit proxy failed after it was started; this version cannot be rolled back',
    );
  });

  it('reboots after the swap when a change has class Reboot', () => {
    const [before, after] = ['1', '2'].map((content) =>
      target('1.0', {
        id: content === '1' ? V1.id : V2.id,
        units: [agentUnit('proxy')],
        files: [agentFile('/etc/sysctl', content, { onChange: 'Reboot' })],
      }),
    );
    const targets = new Map([
      [V1.id, before as never],
      [V2.id, after as never],
    ]);
    expect(upgrade({ step: 'Swapped' }, { targets, observed: installed(after as never) })).toBe(
      'record Rebooting Forward to 1.1: files, links and units are in place',
    );
  });

  it('removes a first install that failed, and has nothing in force afterwards', () => {
    const transition: Transition = { ...BACK, step: 'Swapped', entry: V1.id, to: V1.id };
    const { from: _none, ...first } = transition;
    expect(
      explain(componentInput({ observed: installed(V1, { units: STOPPED }) }, { transition: first })),
    ).toBe(
      'Restore /etc/proxy/proxy.conf, Restore /usr/local/bin/proxy, Restore /opt/kubenode/proxy/current, RemoveUnit proxy, ' +
        'record RolledBack denying 1.0: the first version failed: the host is as it was before',
    );
    expect(explain(componentInput({ observed: EMPTY_HOST }, { transition: first }))).toBe(
      'record RolledBack denying 1.0: the first version failed: the host is as it was before',
    );
  });
});
