import { describe, expect, it } from 'vitest';
import type { DesiredComponent } from '../../../src/agent/component/input.ts';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import {
  absent,
  createProxyHost,
  type DriveOptions,
  type DriveResult,
  drive,
  present,
} from '../../support/agent/component-driver.ts';
import { AgentKilled, type CrashPoint, crashAt } from '../../support/agent/crashing-host.ts';
import { agentFile, agentUnit, target } from '../../support/agent/targets.ts';

interface Scenario {
  readonly name: string;
  /** Reached before the crash. */
  readonly before: readonly DesiredComponent[];
  readonly desired: DesiredComponent;
  readonly prepare?: (host: MemoryHost) => void | Promise<void>;
  readonly options?: DriveOptions;
  readonly ends: string;
}

const V1 = target('1.0');
const V2 = target('1.1');
const UNHEALTHY = { code: 'ProbeFailed', message: 'probe web failed: 500' };

const SCENARIOS: readonly Scenario[] = [
  { name: 'a first install', before: [], desired: present(V1), ends: 'Committed' },
  { name: 'an upgrade', before: [present(V1)], desired: present(V2), ends: 'Committed' },
  {
    name: 'an upgrade over files that were on the host before',
    before: [present(V1)],
    prepare: async (host) =>
      await host.files.write('/etc/proxy/extra', bytes('theirs'), { mode: '0600', owner: 'joe:joe' }),
    desired: present(target('1.1', { files: [agentFile('/etc/proxy/extra', 'ours')] })),
    ends: 'Committed',
  },
  {
    name: 'an upgrade that adds one unit and removes another one',
    before: [present(V1)],
    desired: present(target('1.1', { units: [agentUnit('proxy-next')] })),
    ends: 'Committed',
  },
  {
    name: 'a config that only needs a reload',
    before: [present(reloading('a'))],
    desired: present(reloading('b')),
    ends: 'Committed',
  },
  {
    name: 'an upgrade whose unit does not start',
    before: [present(V1)],
    desired: present(V2),
    prepare: (host) =>
      host.units.behave((unit) => (unit.exec?.argv[0]?.includes('1.1') ? 'FailsToStart' : 'Runs')),
    ends: 'RolledBack',
  },
  {
    name: 'an upgrade whose probes fail',
    before: [present(V1)],
    desired: present(V2),
    options: {
      probation: ({ transition }) =>
        transition?.direction === 'Forward'
          ? { elapsedMs: 1, failure: UNHEALTHY, pending: [] }
          : { elapsedMs: 1, passingMs: 1, pending: [] },
    },
    ends: 'RolledBack',
  },
  {
    name: 'a first install whose unit does not start',
    before: [],
    desired: present(V1),
    prepare: (host) => host.units.behave(() => 'FailsToStart'),
    ends: 'RolledBack',
  },
  {
    name: 'a first install over a unit that the host runs',
    before: [],
    desired: present(V1),
    prepare: async (host) => await host.units.install('proxy'),
    ends: 'Committed',
  },
  { name: 'a removal', before: [present(V1), present(V2)], desired: absent(), ends: 'Absent' },
];

describe('the agent, killed at any call that changes the host', () => {
  it.each(SCENARIOS)(
    'AGT-11 AGT-12 finishes $name as if nothing had happened, with no further start',
    async (scenario) => {
      const { result: expected, host: calm, calls } = await run(scenario);
      expect(expected.progress.state).toBe(scenario.ends);
      expect(expected.progress.transition).toBeUndefined();
      const points = calls.flatMap((_, index): CrashPoint[] => [
        { call: index + 1, when: 'before' },
        { call: index + 1, when: 'after' },
      ]);
      expect(points.length).toBeGreaterThan(10);
      for (const point of points) {
        const { result, host } = await run(scenario, point);
        const where = `killed ${point.when} call ${point.call}: ${calls[point.call - 1]}`;
        expect({
          where,
          state: result.progress.state,
          tree: installed(host),
          starts: host.units.starts,
          stops: host.units.stops,
        }).toEqual({
          where,
          state: expected.progress.state,
          tree: installed(calm),
          starts: calm.units.starts,
          stops: calm.units.stops,
        });
      }
    },
  );
});

async function run(
  { before, desired, prepare, options }: Scenario,
  point?: CrashPoint,
): Promise<{ result: DriveResult; host: MemoryHost; calls: readonly string[] }> {
  const host = createProxyHost();
  for (const each of before) await drive(host, each);
  await prepare?.(host);
  const crashing = crashAt(host, point);
  try {
    const result = await drive(crashing.host, desired, options);
    return { result, host, calls: crashing.calls };
  } catch (error) {
    if (!(error instanceof AgentKilled)) throw error;
    return { result: await drive(host, desired, options), host, calls: crashing.calls };
  }
}

/** Everything on the host but the agent's own state, which differs in the number of records. */
function installed(host: MemoryHost): ReadonlyMap<string, string> {
  return new Map([...host.files.tree()].filter(([path]) => !path.startsWith('/var/lib/kubenode/')));
}

function reloading(content: string): ReturnType<typeof target> {
  return target('1.0', {
    files: [agentFile('/etc/proxy/proxy.conf', content, { onChange: 'Reload' })],
    units: [agentUnit('proxy', { reload: { signal: 'HUP' } })],
  });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
