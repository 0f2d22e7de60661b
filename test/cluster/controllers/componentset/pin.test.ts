/** Pins on a real API server: versions that a person gives a Machine with kubectl alone, without a set. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENTS, MACHINES } from '../../../../src/api/generated/resources.ts';
import type {
  LedgerGrant,
  Machine,
  MachineComponent,
  MachineComponentReport,
} from '../../../../src/api/generated/types.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import type { ExplainedMachine } from '../../../../src/cli/fleet/why/format.ts';
import { EVENTS } from '../../../../src/kube/events/object.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { entryOf } from '../../../support/agent/fake-api.ts';
import { tempFolder } from '../../../support/temp.ts';
import { readLedger } from '../../defender/objects.ts';
import { kubenodeAs } from '../../defender/processes.ts';
import { programSpec, type RolloutFleet, startRolloutFleet } from '../rollout-fleet.ts';

const COMPONENT = 'proxy';
const PERSON = 'person';

describe('a pin', () => {
  let fleet: RolloutFleet;

  beforeAll(async () => {
    fleet = await startRolloutFleet();
  });
  afterAll(() => fleet?.stop());

  it('ROL-06 of a Machine that kubectl alone applies, twice: each version is granted, installed and settled', async () => {
    await kubectlApply('ant-1', '1.0');
    await expect.poll(() => installed('ant-1')).toBe('proxy-1.0');
    const first = await settledGrant('ant-1');
    await kubectlApply('ant-1', '2.0');
    await expect.poll(() => installed('ant-1')).toBe('proxy-2.0');
    const second = await settledGrant('ant-1');
    expect([first, second].map(({ holder, outcome }) => `${holder.kind} ${holder.name} ${outcome}`)).toEqual([
      'Machine ant-1 Succeeded',
      'Machine ant-1 Succeeded',
    ]);
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await eventsOf('ant-1')).toContain('RolloutPinPermitted');
  });

  it('ROL-06 waits while the Defender denies it, which why tells (ROL-61), beside the entry of a set, and can be removed by its owner', async () => {
    await fleet.pool('web', 1);
    await pin('web-1', '1.0');
    await expect.poll(() => installed('web-1')).toBe('proxy-1.0');
    await settledGrant('web-1');
    await fleet.cluster.setStopped(true);
    await pin('web-1', '2.0');
    await expect.poll(() => eventsOf('web-1')).toContain('RolloutPinDenied');
    const report = await reported('web-1');
    expect(report).toMatchObject({ state: 'WaitingForGrant', currentRef: 'proxy-1.0' });
    const { pins, acts } = await why('web-1');
    expect(pins).toMatchObject([
      {
        component: COMPONENT,
        componentRef: 'proxy-2.0',
        reason: 'KillSwitch',
        since: report?.waiting?.since,
      },
    ]);
    expect(pins?.[0]?.because).toMatch(/^fleet-default: .*a test/);
    expect(pins?.[0]?.unblock).toContain('kubenode defender resume');
    expect(acts[0]).toMatchObject({ action: 'UpdateComponent', permitted: false });
    await fleet.cluster.setStopped(false);
    await expect.poll(() => installed('web-1')).toBe('proxy-2.0');
    await settledGrant('web-1');
    expect((await why('web-1')).pins).toEqual([]);
    await pin('web-1', undefined);
    await expect.poll(() => entries('web-1')).toEqual(['web']);
    expect((await fleet.set('web')).status?.counts).toMatchObject({ updated: 1 });
  });

  async function kubectlApply(name: string, version: string): Promise<void> {
    const file = join(tempFolder('pin'), 'machine.json');
    const spec = {
      infra: { provider: 'local' },
      host: { type: 'sandbox' },
      components: [await entry(version)],
    };
    await writeFile(
      file,
      JSON.stringify({ apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, spec }),
    );
    await fleet.cluster.kubectl('apply', '-f', file);
  }

  async function pin(machine: string, version: string | undefined): Promise<void> {
    const components = version === undefined ? [] : [await entry(version)];
    const object = {
      apiVersion: API_VERSION,
      kind: 'Machine',
      metadata: { name: machine },
      spec: { components },
    };
    await fleet.cluster.admin.apply(MACHINES, object, { fieldManager: PERSON });
  }

  async function entry(version: string): Promise<ReturnType<typeof entryOf>> {
    const metadata = { name: `${COMPONENT}-${version}` };
    const object = { apiVersion: API_VERSION, kind: 'MachineComponent', metadata };
    const spec = programSpec(COMPONENT, version);
    const options = { fieldManager: PERSON, force: true };
    await fleet.cluster.admin.apply(MACHINE_COMPONENTS, { ...object, spec }, options);
    const found = await fleet.cluster.admin.get<MachineComponent>(MACHINE_COMPONENTS, metadata);
    return entryOf(found.spec, false);
  }

  async function why(name: string): Promise<ExplainedMachine> {
    const { kubeconfig } = fleet.cluster.installed.server;
    const { stdout, stderr } = await kubenodeAs(kubeconfig, 'why', 'machine', name, '-o', 'json');
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as ExplainedMachine;
  }

  async function read(name: string): Promise<Machine> {
    return await fleet.cluster.admin.get<Machine>(MACHINES, { name });
  }

  async function reported(name: string): Promise<MachineComponentReport | undefined> {
    return (await read(name)).status?.components?.find((each) => each.name === COMPONENT);
  }

  /** What its agent reports as committed. */
  async function installed(name: string): Promise<string | undefined> {
    const report = await reported(name);
    return report?.state === 'Committed' ? report.currentRef : undefined;
  }

  async function entries(name: string): Promise<readonly string[]> {
    return (await read(name)).spec.components.map((each) => each.name);
  }

  /** No entry has a grant any more, and the ledger keeps the settled one. */
  async function settledGrant(name: string): Promise<LedgerGrant> {
    const open = async (): Promise<number> =>
      (await read(name)).spec.components.filter(({ grant }) => grant !== undefined).length;
    await expect.poll(open).toBe(0);
    const latest = async (): Promise<LedgerGrant | undefined> =>
      (await readLedger(fleet.cluster.admin)).spec.grants[name];
    await expect.poll(latest).toMatchObject({ state: 'Settled', action: 'UpdateComponent' });
    return (await latest()) as LedgerGrant;
  }

  async function eventsOf(name: string): Promise<readonly string[]> {
    const { items } = await fleet.cluster.admin.list(EVENTS);
    return items
      .filter((event) => textAt(event, 'regarding', 'name') === name)
      .map((event) => textAt(event, 'reason') ?? '');
  }
});
