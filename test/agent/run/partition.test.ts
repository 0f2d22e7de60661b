/** A day without the API server, in simulated time: drift, reboots, new agents and a full disk. */
import { describe, expect, it } from 'vitest';
import { HostError } from '../../../src/agent/host/errors.ts';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Agent } from '../../../src/agent/run/agent.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { fakeAgentApi } from '../../support/agent/fake-api.ts';
import { openTestAgent } from '../../support/agent/open-agent.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const CONFIG = '/etc/proxy/proxy.conf';
const MINUTES = 24 * 60;
const ATTRIBUTES = { mode: '0644', owner: 'root:root' };

const clock = virtualClock();
const api = fakeAgentApi();

async function open(host: MemoryHost): Promise<Agent> {
  return await openTestAgent({ host, api, clock });
}

/** What happens in a minute of the day. */
async function disturb(minute: number, host: MemoryHost): Promise<'NewAgent' | undefined> {
  if (minute % 37 === 0) await host.files.write(CONFIG, new TextEncoder().encode('theirs'), ATTRIBUTES);
  if (minute % 53 === 0) await host.units.stop('proxy');
  if (minute % 61 === 0) host.units.mask('proxy');
  if (minute % 311 === 0) await host.node.reboot();
  return minute % 311 === 0 || minute % 97 === 0 ? 'NewAgent' : undefined;
}

async function liveAMinute(agent: Agent): Promise<void> {
  await agent.reconcile();
  await clock.advance(60_000);
}

async function isAsAccepted(host: MemoryHost): Promise<boolean> {
  const content = new TextDecoder().decode(await host.files.read(CONFIG));
  const active = (await host.units.status({ name: 'proxy' } as never))?.active;
  return content === 'version 1.0\n' && active === 'Active';
}

/** The minutes in which the host was not as it was accepted, but those of a full disk and the one after. */
async function liveThrough(host: MemoryHost, first: Agent): Promise<readonly number[]> {
  const write = host.files.write.bind(host.files);
  let fullUntil = 0;
  let minute = 1;
  host.files.write = async (...args) => {
    if (minute < fullUntil) throw new HostError('DiskFull', 'the disk is full');
    await write(...args);
  };
  const wrong: number[] = [];
  for (let agent = first; minute <= MINUTES; minute += 1) {
    const isNew = (await disturb(minute, host)) === 'NewAgent';
    if (minute % 200 === 0) fullUntil = minute + 3;
    if (isNew) agent = await open(host);
    await liveAMinute(agent);
    if (minute > fullUntil && !(await isAsAccepted(host))) wrong.push(minute);
  }
  return wrong;
}

describe('AGT-40 a day without the API server', () => {
  it('keeps what was accepted, starts no new version, and upgrades when the server is back', async () => {
    const host = createProxyHost(clock);
    const agent = await open(host);
    api.declare([componentSpec('1.0')]);
    await liveAMinute(agent);
    await liveAMinute(agent);
    // When the hold ends, nothing but the missing server is in the way of the new version.
    const hold = { reason: 'work', scope: 'Disruptive', until: '2030-01-01T13:00:00Z' } as const;
    api.declare([componentSpec('1.1')], { spec: { hold } });
    await liveAMinute(agent);
    api.online = false;
    const { length } = api.statuses;
    expect(await liveThrough(host, agent)).toEqual([]);
    expect(api.statuses).toHaveLength(length);
    api.online = true;
    const last = await open(host);
    for (let minutes = 0; minutes < 3; minutes += 1) await liveAMinute(last);
    const upgraded = { state: 'Committed', currentRef: 'proxy-1.1' };
    expect(api.statuses.at(-1)?.components?.[0]).toMatchObject(upgraded);
  });
});
