import { describe, expect, it, onTestFinished } from 'vitest';
import type { ProviderCheck } from '../../../src/providers/contract.ts';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AlibabaHarness, CONFIG, openAlibabaHarness } from './harness.ts';
import { REFUSALS } from './server/refusal.ts';

const SHAPE = { config: CONFIG, host: 'systemd' } as const;

async function open(): Promise<AlibabaHarness> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return harness;
}

function textOf(checks: readonly ProviderCheck[] = []): readonly string[] {
  return checks.map(({ right, result }) => `${right} ${result}`);
}

const RIGHTS = [
  'DescribeInstances',
  'DescribeInstanceHistoryEvents',
  'RunInstances',
  'DeleteInstance',
  'StopInstance',
  'StartInstance',
  'RebootInstance',
];

describe('the check of provider alibaba', () => {
  it('finds all rights, and creates and changes nothing', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    const before = JSON.stringify([...server.ecs.instances.values()].map(({ status }) => status));
    const checks = await provider.check?.(SHAPE, NEVER);
    expect(textOf(checks)).toEqual(RIGHTS.map((action) => `ecs:${action} Allowed`));
    expect(JSON.stringify([...server.ecs.instances.values()].map(({ status }) => status))).toBe(before);
    expect(await provider.get(id, NEVER)).toBeDefined();
  });

  it.each(RIGHTS)('names the missing right %s, and no other', async (denied) => {
    const { provider, server } = await open();
    await provider.create(requestOf(SHAPE), NEVER);
    server.ecs.denied.add(denied);
    const checks = await provider.check?.(SHAPE, NEVER);
    const missing = checks?.filter(({ result }) => result === 'Missing').map(({ right }) => right);
    expect(missing).toEqual([`ecs:${denied}`]);
  });

  it('does not know rights that there is nothing to try on', async () => {
    const { provider } = await open();
    expect(textOf(await provider.check?.(undefined, NEVER))).toEqual(
      RIGHTS.map((action, index) => `ecs:${action} ${index < 2 ? 'Allowed' : 'Unknown'}`),
    );
  });

  it('ends at credentials that are refused', async () => {
    const { provider, server } = await open();
    server.ecs.failures.set('DescribeInstances', REFUSALS.noKey);
    expect(textOf(await provider.check?.(SHAPE, NEVER))).toEqual(['ecs:DescribeInstances Refused']);
  });
});
