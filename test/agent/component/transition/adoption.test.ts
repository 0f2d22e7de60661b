import { describe, expect, it } from 'vitest';
import type { ComponentInput } from '../../../../src/agent/component/input.ts';
import { planComponent } from '../../../../src/agent/component/plan.ts';
import type { MemoryHost } from '../../../../src/agent/host/memory/host.ts';
import type { UnitStatus } from '../../../../src/agent/host/port.ts';
import type { Transition } from '../../../../src/agent/journal/record.ts';
import { createProxyHost, drive, FREE, present } from '../../../support/agent/component-driver.ts';
import { componentInput, explain, installed } from '../../../support/agent/component-input.ts';
import { agentUnit, target } from '../../../support/agent/targets.ts';

const NO_LINKS = { artifact: { ...target('1.0').artifact, install: [] } as never };
const V1 = target('1.0', NO_LINKS);
const V2 = target('1.1', NO_LINKS);
const PROGRAM = `${V1.directory}/proxy`;
const DIGEST = 'a'.repeat(64);
const STAGED: Transition = {
  step: 'Staged',
  entry: V1.id,
  direction: 'Forward',
  to: V1.id,
  bootId: 'boot-1',
  boots: 0,
};
const ADOPT = onNode(V1, 'Adopt');
const CONVERGE = onNode(V1, 'Converge');

function onNode(of: typeof V1, existingNode: 'Adopt' | 'Converge'): ComponentInput['desired'] {
  return { ...present(of), existingNode } as ComponentInput['desired'];
}

function status(fields: Partial<UnitStatus> = {}, programDigest = DIGEST): UnitStatus {
  const process = { pid: 7, startId: '7', startedAt: '', programDigest };
  return { defined: false, enabled: true, masked: false, active: 'Active', restarts: 0, process, ...fields };
}

/** A host that runs the unit, and has the files of version 1.0. */
function input(
  unit: UnitStatus | undefined,
  fields: Partial<ComponentInput> = {},
  compared?: string,
): ComponentInput {
  const observed = installed(V1, {
    units: new Map(unit ? [['proxy', unit]] : []),
    programs: new Map([[PROGRAM, { expected: DIGEST }]]),
  });
  const progress = { transition: STAGED, ...(compared !== undefined && { comparedWith: compared }) };
  return componentInput({ desired: ADOPT, targets: new Map([[V1.id, V1]]), observed, ...fields }, progress);
}

const ADOPTED = 'WriteUnit proxy, record Committed at sha256';
const GRANTED = /^record Stopping Forward to sha256:\w+: granted by grant-1.0$/;

describe('planAdoption', () => {
  it.each<[string, ComponentInput, RegExp]>([
    [
      'adopts what runs with the same program and files',
      input(status()),
      new RegExp(`^${ADOPTED}.*without a restart$`),
    ],
    ['adopts it under Converge, too', input(status(), { desired: CONVERGE }), new RegExp(`^${ADOPTED}`)],
    [
      'needs no grant, because nothing is disturbed',
      input(status(), { desired: { ...ADOPT, grant: undefined } as never }),
      new RegExp(`^${ADOPTED}`),
    ],
    [
      'leaves a host alone that differs, and records the version first',
      input(status({}, 'b'.repeat(64))),
      /^record Staged Forward .*: the host is left as it is: unit proxy runs another program than version 1.0: SHA-256 bbbbbbbbbbbb, not aaaaaaaaaaaa$/,
    ],
    [
      'waits once that is recorded',
      input(status({}, 'b'.repeat(64)), {}, V1.id),
      /^wait HostDiffers: .* until another version is desired: unit proxy runs another program/,
    ],
    [
      'does not take an unknown program for the same',
      input(status({ process: { pid: 7, startId: '7', startedAt: '' } }), {}, V1.id),
      /^wait HostDiffers: .*runs a program that could not be compared$/,
    ],
    [
      'names what the host found out about the process',
      input(status({ hostDifference: 'runs with other arguments' }), {}, V1.id),
      /^wait HostDiffers: .*unit proxy runs with other arguments$/,
    ],
    [
      'names a unit that is not enabled',
      input(status({ enabled: false }), {}, V1.id),
      /^wait HostDiffers: .*unit proxy is not enabled$/,
    ],
    [
      'replaces what differs under Converge, with the grant',
      input(status({}, 'b'.repeat(64)), { desired: CONVERGE }),
      GRANTED,
    ],
    [
      'replaces what differs when the set has moved on to this version',
      input(status({}, 'b'.repeat(64)), {}, 'sha256:first'),
      GRANTED,
    ],
    [
      'installs a unit that the host does not run as everywhere',
      input(status({ active: 'Inactive' })),
      GRANTED,
    ],
    ['installs over another host as everywhere', input(status(), { desired: present(V1) }), GRANTED],
    [
      'adopts nothing on a machine that is held',
      input(status(), { brakes: { ...FREE, hold: 'Disruptive' } }),
      /^wait Held: /,
    ],
    [
      'adopts nothing without the API server',
      input(status(), { brakes: { ...FREE, online: false } }),
      /^wait Offline: /,
    ],
  ])('MAC-19 compares a first version with its host, and %s', (_, found, expected) => {
    expect(explain(found)).toMatch(expected);
  });

  it('MAC-19 reports each difference as drift that is not corrected', () => {
    const found = planComponent(input(status({ hostDifference: 'runs with other arguments' }), {}, V1.id));
    expect(found.findings).toEqual([
      { subject: 'proxy', kind: 'Unit', action: 'Reported', because: 'unit proxy runs with other arguments' },
    ]);
  });
});

describe('a component of which the host runs the unit', () => {
  async function nodeHost(config: string): Promise<MemoryHost> {
    const host = createProxyHost();
    await host.files.write('/etc/proxy/proxy.conf', new TextEncoder().encode(config), {
      mode: '0644',
      owner: 'root:root',
    });
    const programDigest = V1.artifact?.sha256 ?? '';
    await host.units.install('proxy', { enabled: true, programDigest });
    return host;
  }
  const [UNIT = agentUnit('proxy')] = V1.units;

  it('MAC-19 is adopted with neither a stop nor a start', async () => {
    const host = await nodeHost('version 1.0\n');
    const before = await host.units.status(UNIT);
    const { progress } = await drive(host, ADOPT);
    expect(progress).toMatchObject({ state: 'Committed', current: V1.id });
    expect(await host.units.status(UNIT)).toMatchObject({ defined: true, process: before?.process });
    expect([host.units.stops.size, host.units.starts.size]).toEqual([0, 0]);
    // Another life of the agent finds nothing to do: it takes the process for what it committed.
    expect((await drive(host, ADOPT)).actions.filter(({ type }) => type === 'Operate')).toEqual([]);
  });

  it('MAC-19 is left alone over lives of the agent, and moved to the next version', async () => {
    const host = await nodeHost('of a person\n');
    for (const _ of [1, 2]) {
      const { progress, wait } = await drive(host, ADOPT);
      expect([progress.current, progress.comparedWith, wait?.reason]).toEqual([
        undefined,
        V1.id,
        'HostDiffers',
      ]);
    }
    expect([host.units.stops.size, host.units.starts.size]).toEqual([0, 0]);
    expect((await drive(host, onNode(V2, 'Adopt'))).progress).toMatchObject({
      state: 'Committed',
      current: V2.id,
    });
    expect([host.units.stops.get('proxy'), host.units.starts.get('proxy')]).toEqual([1, 1]);
  });

  it('MAC-19 is left alone again after the next version failed and the first one is desired again', async () => {
    const host = await nodeHost('of a person\n');
    await drive(host, ADOPT);
    host.units.behave(() => 'FailsToStart');
    expect((await drive(host, onNode(V2, 'Adopt'))).progress.state).toBe('RolledBack');
    expect((await drive(host, ADOPT)).wait?.reason).toBe('HostDiffers');
    expect(await host.units.status(UNIT)).toMatchObject({ defined: false, active: 'Active' });
  });
});
