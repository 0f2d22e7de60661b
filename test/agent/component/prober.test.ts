import { describe, expect, it } from 'vitest';
import { createProber } from '../../../src/agent/component/prober.ts';
import { HostError } from '../../../src/agent/host/errors.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import type { ComponentProbe } from '../../../src/api/generated/types.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { agentUnit, target } from '../../support/agent/targets.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const COMMON = { periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 1 };

async function pendingOf(
  probe: Omit<ComponentProbe, keyof typeof COMMON | 'name'>,
): Promise<readonly string[]> {
  const clock = virtualClock();
  const host = createProxyHost(clock);
  host.answerProbes({ passed: false, detail: 'ECONNREFUSED' });
  const refusing = {
    ...host,
    processes: {
      run: async () => ({
        exitCode: 2,
        timedOut: false,
        output: 'no \u001b[31m\npassword: hunter2-hunter2\n',
        truncated: false,
      }),
      openInodes: async () => new Set<string>(),
      freeDirectory: async () => undefined,
    },
  };
  const prober = createProber({ host: refusing, clock, nodeCondition: async () => 'False' });
  const probed = target('1.0', { units: [], probes: [{ name: 'p', ...COMMON, ...probe }] });
  expect(prober.isReady(probed)).toBeUndefined();
  const { pending } = await prober.probe(probed, 'run-1');
  expect(prober.isReady(probed)).toBe(false);
  return pending;
}

describe('the prober', () => {
  it.each<[Omit<ComponentProbe, keyof typeof COMMON | 'name'>, string]>([
    [{ tcp: { port: '80' } }, 'probe p: ECONNREFUSED'],
    [{ exec: { argv: ['/bin/check'] } }, 'probe p: exit code 2: no \\u001b[31m\\npassword: ***'],
    [{ unit: { name: 'proxy' } }, 'probe p: unit proxy is missing'],
    [{ nodeCondition: { type: 'Ready', status: 'True' } }, 'probe p: Ready is False'],
  ])('reports why %j does not pass', async (probe, expected) => {
    expect(await pendingOf(probe)).toEqual([expected]);
  });

  it('takes a fault of the agent for no answer of the probe', async () => {
    const clock = virtualClock();
    const host = createProxyHost(clock);
    const probed = target('1.0', { units: [], probes: [{ name: 'p', ...COMMON, tcp: { port: '80' } }] });
    const failing = (error: Error): typeof host => ({
      ...host,
      network: {
        ...host.network,
        probe: async () => {
          throw error;
        },
      },
    });
    const proberOf = (error: Error): ReturnType<typeof createProber> =>
      createProber({ host: failing(error), clock, nodeCondition: async () => undefined });
    await expect(proberOf(new TypeError('a fault')).probe(probed, 'run-1')).rejects.toThrow('a fault');
    const { pending } = await proberOf(new HostError('NoAccess', 'no port')).probe(probed, 'run-1');
    expect(pending).toEqual(['probe p: no port']);
  });

  it('runs probes of all components at multiples of their period since the agent started', async () => {
    const clock = virtualClock();
    await clock.advance(1234);
    const prober = createProber({
      host: createProxyHost(clock),
      clock,
      nodeCondition: async () => undefined,
    });
    const [one, two] = ['one', 'two'].map((component) =>
      target('1.0', { component, units: [], probes: [{ name: 'p', ...COMMON, tcp: { port: '80' } }] }),
    ) as [Target, Target];
    await clock.advance(100);
    await prober.probe(one, 'run-1');
    await clock.advance(3000);
    await prober.probe(two, 'run-1');
    expect([prober.isDue(one), prober.isDue(two)]).toEqual([false, false]);
    expect(prober.nextMs()).toBe(1234 + 5000);
    await clock.advance(5000 - 3100);
    // The second one ran less than half of a period ago.
    expect([prober.isDue(one), prober.isDue(two)]).toEqual([true, false]);
    await prober.probe(one, 'run-1');
    await clock.advance(5000);
    expect([prober.isDue(one), prober.isDue(two)]).toEqual([true, true]);
  });

  it('takes another version for due', async () => {
    const clock = virtualClock();
    const prober = createProber({
      host: createProxyHost(clock),
      clock,
      nodeCondition: async () => undefined,
    });
    const [old, next] = ['1.0', '1.1'].map((version) => target(version, { units: [], probes: [] })) as [
      Target,
      Target,
    ];
    expect(prober.isDue(old)).toBe(true);
    await prober.probe(old, 'run-1');
    expect([prober.isDue(old), prober.isDue(next)]).toEqual([false, true]);
  });

  it('begins again for another start of the same version, and goes on for the same one', async () => {
    const clock = virtualClock();
    const host = createProxyHost(clock);
    const prober = createProber({ host, clock, nodeCondition: async () => undefined });
    const probed = target('1.0', { units: [agentUnit('proxy')] });
    await host.units.write(agentUnit('proxy'));
    await host.units.start('proxy');
    await prober.probe(probed, 'run-1');
    await clock.advance(1000);
    expect(await prober.probe(probed, 'run-1')).toMatchObject({ elapsedMs: 1000, passingMs: 1000 });
    expect(await prober.probe(probed, 'run-2')).toMatchObject({ elapsedMs: 0, passingMs: 0 });
    expect(prober.isReady(probed)).toBe(true);
    prober.forget('proxy');
    expect(prober.isReady(probed)).toBeUndefined();
  });
});
