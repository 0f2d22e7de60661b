import { describe, expect, it } from 'vitest';
import type { ComponentInput } from '../../../../src/agent/component/input.ts';
import { activationClass, foreignUnits } from '../../../../src/agent/component/transition/foreign.ts';
import type { UnitStatus } from '../../../../src/agent/host/port.ts';
import type { Transition } from '../../../../src/agent/journal/record.ts';
import { createProxyHost, drive, present } from '../../../support/agent/component-driver.ts';
import { componentInput, EMPTY_HOST, explain } from '../../../support/agent/component-input.ts';
import { agentUnit, target } from '../../../support/agent/targets.ts';

const V1 = target('1.0');
const FIRST: Transition = {
  step: 'Stopping',
  entry: V1.id,
  direction: 'Forward',
  to: V1.id,
  bootId: 'boot-1',
  boots: 0,
};
const OF_HOST: UnitStatus = { defined: false, enabled: true, masked: false, active: 'Active', restarts: 0 };

function first(status: Partial<UnitStatus>, fields: Partial<ComponentInput> = {}): ComponentInput {
  const observed = { ...EMPTY_HOST, units: new Map([['proxy', { ...OF_HOST, ...status }]]) };
  return componentInput({ desired: present(V1), observed, ...fields }, { transition: FIRST });
}

describe('foreignUnits', () => {
  it.each<[string, Partial<UnitStatus>, expected: readonly string[]]>([
    ['runs by another definition', {}, ['proxy']],
    ['is just starting by another definition', { active: 'Activating' }, ['proxy']],
    ['runs by our definition', { defined: true }, []],
    ['does not run', { active: 'Inactive' }, []],
    ['has failed', { active: 'Failed' }, []],
  ])('finds a unit of the host that %s: %s', (_, status, expected) => {
    const names = foreignUnits(first(status), { origin: undefined, goal: V1 }).map(({ name }) => name);
    expect(names).toEqual(expected);
  });

  it('finds neither a unit of the version before nor one that keeps the definition of the host', () => {
    const input = first({});
    expect(foreignUnits(input, { origin: V1, goal: V1 })).toEqual([]);
    const existing = target('1.0', { units: [agentUnit('proxy', { existing: true })] });
    expect(foreignUnits(input, { origin: undefined, goal: existing })).toEqual([]);
  });
});

describe('activationClass', () => {
  const drained = target('1.0', { activation: 'Drain' });
  it.each<[string, string, ComponentInput]>([
    ['as declared where the host runs the unit', 'Drain', first({})],
    ['that of the versions where it does not run', 'None', first({ active: 'Inactive' })],
  ])('is %s: %s', (_, expected, input) => {
    expect(activationClass(input, { origin: undefined, goal: drained })).toBe(expected);
  });

  it('waits for the drain that the component declares, before the unit of the host is stopped', () => {
    const { directory, id } = drained;
    const units = new Map([['proxy', OF_HOST]]);
    const placed = ['/etc/proxy/proxy.conf', '/usr/local/bin/proxy', '/opt/kubenode/proxy/current'];
    const observed = { ...EMPTY_HOST, directories: new Set([directory]), backups: new Set(placed), units };
    const targets = new Map([[id, drained]]);
    const transition = { ...FIRST, step: 'Staged', entry: id, to: id } as const;
    const found = explain(componentInput({ desired: present(drained), observed, targets }, { transition }));
    expect(found).toMatch(/^wait DrainPending: waits until the machine is drained for grant grant-1.0/);
  });
});

describe('a first version over a unit that the host runs', () => {
  it('is restarted by its own definition before it is committed', async () => {
    expect(explain(first({}))).toBe(
      'StopUnit proxy, record Swapped Forward to 1.0: unit proxy added, file /etc/proxy/proxy.conf changed',
    );
    const host = createProxyHost();
    await host.units.install('proxy');
    const { progress } = await drive(host, present(V1));
    expect(progress).toMatchObject({ state: 'Committed', current: V1.id });
    expect([host.units.stops.get('proxy'), host.units.starts.get('proxy')]).toEqual([1, 1]);
    const [unit = agentUnit('proxy')] = V1.units;
    const program = await host.files.digest(`${V1.directory}/proxy`);
    expect((await host.units.status(unit))?.process?.programDigest).toBe(program);
  });

  it('AGT-15 starts the unit of the host again when the version fails', async () => {
    const host = createProxyHost();
    await host.units.install('proxy');
    host.units.behave(() => 'FailsToStart');
    expect((await drive(host, present(V1))).progress.state).toBe('RolledBack');
    const [unit = agentUnit('proxy')] = V1.units;
    expect(await host.units.status(unit)).toMatchObject({ defined: false, active: 'Active' });
  });
});
