import { describe, expect, it } from 'vitest';
import { PROOF_FILE } from '../../../src/agent/layout.ts';
import { writeStateFile } from '../../../src/agent/state-file.ts';
import type { AgentService } from '../../../src/agent/upgrade/service/port.ts';
import { beginUpgrade, readSlots } from '../../../src/agent/upgrade/slot-store.ts';
import { advanceUpgrade, runWatchdog } from '../../../src/agent/upgrade/watchdog.ts';
import { AgentKilled, type CrashPoint, crashAt } from '../../support/agent/crashing-host.ts';
import { agentUpgrade, type UpgradingHost, upgradingHost } from '../../support/agent/upgrades.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

interface Build {
  readonly name: string;
  readonly isHealthy: boolean;
  readonly ends: 'Committed' | 'RolledBack';
}

const BUILDS: readonly Build[] = [
  { name: 'a version that proves itself', isHealthy: true, ends: 'Committed' },
  { name: 'a version that proves nothing', isHealthy: false, ends: 'RolledBack' },
];
/** More than any upgrade has plans. */
const MAX_PLANS = 200;

describe('the watchdog of an upgrade of the agent', () => {
  it.each(BUILDS)('AGT-43 ends with one agent and a verdict for $name', async (build) => {
    const host = await begin();
    await watch(host, build);
    expect(await describeEnd(host)).toEqual(endOf(build));
    expect(host.starts).toEqual(build.isHealthy ? ['/new'] : ['/new', '/old']);
  });

  it('tells with the verdict what the failed agent printed last', async () => {
    const host = await begin();
    await watch(host, { isHealthy: false });
    const { last } = await readSlots(host.files);
    expect(last?.failure).toEqual({
      code: 'AgentUnhealthy',
      message: 'the agent of version 1.1 is not healthy after 60 s: it reported nothing: the last line',
    });
  });

  it('AGT-43 returns the old agent when the new one cannot be started', async () => {
    const host = await begin();
    const start = async (program: string): Promise<void> => {
      if (program === '/new') throw new Error('the program is missing');
      await host.service.start(program);
    };
    const service = { ...host.service, start };
    const options = { host, service, log: memoryLog(), uptimeMs: () => 0 };
    await runWatchdog({ ...options, clock: { ...clock, sleep: async () => undefined } }, NEVER);
    const { last } = await readSlots(host.files);
    expect(last?.failure).toMatchObject({ code: 'AgentNotStarted' });
    expect(host.running).toEqual(['/old']);
  });

  it.each(BUILDS)(
    'AGT-43 ends with one agent and the same verdict when it is killed at any call during $name',
    async (build) => {
      const whole = await begin();
      const { calls } = await watch(whole, build);
      expect(calls.length).toBeGreaterThan(5);
      for (let call = 1; call <= calls.length; call += 1) {
        for (const when of ['before', 'after'] as const) await killedOnce(build, { call, when });
      }
    },
  );

  it.each(BUILDS)('AGT-43 ends with one agent after a reboot at any call during $name', async (build) => {
    const { calls } = await watch(await begin(), build);
    for (let call = 1; call <= calls.length; call += 1) {
      const host = await begin();
      await expectKilled(watch(host, build, { call, when: 'after' }));
      await host.node.reboot();
      // The unit of the agent starts whatever its link names.
      const program = host.starts.at(-1) ?? '/old';
      host.endAgents();
      await host.service.start(program);
      await watch(host, build);
      expect([call, await describeEnd(host)]).toEqual([call, endOf(build)]);
    }
  });
});

async function killedOnce(build: Build, point: CrashPoint): Promise<void> {
  const host = await begin();
  await expectKilled(watch(host, build, point));
  await watch(host, build);
  expect([point, await describeEnd(host)]).toEqual([point, endOf(build)]);
  expect(host.starts.length).toBeLessThanOrEqual(3);
}

async function expectKilled(watching: Promise<unknown>): Promise<void> {
  await expect(watching).rejects.toBeInstanceOf(AgentKilled);
}

const clock = virtualClock();
const NEVER = new AbortController().signal;

async function begin(): Promise<UpgradingHost> {
  const host = upgradingHost(clock);
  await beginUpgrade(host.files, agentUpgrade());
  return host;
}

/** One life of a watchdog. Time moves while it waits. */
async function watch(
  host: UpgradingHost,
  { isHealthy }: Pick<Build, 'isHealthy'>,
  point?: CrashPoint,
): Promise<{ readonly calls: readonly string[] }> {
  const { service, calls, files } = crashing(host, point);
  const options = {
    host: { ...host, files },
    service,
    clock,
    log: memoryLog(),
    uptimeMs: () => clock.monotonicMs(),
  };
  for (let plans = 0; plans < MAX_PLANS; plans += 1) {
    const { upgrade } = await readSlots(host.files);
    if (!upgrade) return { calls };
    const agent = await host.service.running();
    if (isHealthy && agent && host.running[0] === '/new') {
      const proof = { key: upgrade.key, pid: agent.pid, atMs: clock.monotonicMs(), missing: [] };
      await writeStateFile(host.files, PROOF_FILE, proof);
    }
    if (!(await advanceUpgrade(options, upgrade))) await clock.advance(5000);
  }
  throw new Error('the upgrade does not end');
}

/** Calls of the service count like writes of files. */
function crashing(
  host: UpgradingHost,
  point: CrashPoint | undefined,
): {
  readonly service: AgentService;
  readonly files: UpgradingHost['files'];
  readonly calls: readonly string[];
} {
  const own = { stop: () => host.service.stop(), start: (program: string) => host.service.start(program) };
  const units: unknown = Object.assign(Object.create(host.units), own);
  const crashed = crashAt({ ...host, units } as unknown as UpgradingHost, point);
  const { units: calling } = crashed.host;
  const service = {
    ...host.service,
    stop: () => calling.stop(''),
    start: (program: string) => calling.start(program),
  };
  return { service, files: crashed.host.files as UpgradingHost['files'], calls: crashed.calls };
}

async function describeEnd(host: UpgradingHost): Promise<object> {
  const { upgrade, last } = await readSlots(host.files);
  return { running: host.running, upgrade, result: last?.result };
}

function endOf({ ends }: Build): object {
  const running = [ends === 'Committed' ? '/new' : '/old'];
  return { running, upgrade: undefined, result: ends };
}
