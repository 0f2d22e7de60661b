import { expect, it, onTestFinished } from 'vitest';
import type { ProviderCheck } from '../../../src/providers/contract.ts';
import { CLUSTER, NEVER, requestOf } from '../contract/harness.ts';
import { actionOf, ec2Error } from './ec2.ts';
import { describeOnMoto, SHAPE } from './on-moto.ts';

const RIGHTS = [
  'DescribeInstances',
  'DescribeInstanceStatus',
  'RunInstances',
  'TerminateInstances',
  'StopInstances',
  'StartInstances',
];
const DENIED = ec2Error(403, 'UnauthorizedOperation', 'You are not authorized to perform this operation.');
const EXPIRED = ec2Error(400, 'RequestExpired', 'Request has expired.');

function textOf(checks: readonly ProviderCheck[] = []): readonly string[] {
  return checks.map(({ right, result }) => `${right} ${result}`);
}

describeOnMoto('the check of provider aws', (open) => {
  it('finds all rights, and creates and changes nothing', async () => {
    const { provider } = await open();
    await provider.create(requestOf(SHAPE), NEVER);
    const before = await provider.find({ clusterUid: CLUSTER }, NEVER);
    expect(textOf(await provider.check?.(SHAPE, NEVER))).toEqual(
      RIGHTS.map((right) => `ec2:${right} Allowed`),
    );
    expect(await provider.find({ clusterUid: CLUSTER }, NEVER)).toEqual(before);
    expect(before).toMatchObject([{ state: 'Running' }]);
  });

  it('names each right that is missing, and no other', async () => {
    const { provider, cloud } = await open();
    await provider.create(requestOf(SHAPE), NEVER);
    for (const denied of RIGHTS.slice(1)) {
      const end = cloud.proxy.always((request) =>
        actionOf(request) === denied ? { type: 'Answer', answer: DENIED } : undefined,
      );
      // oxlint-disable-next-line no-await-in-loop -- one proxy
      const checks = await provider.check?.(SHAPE, NEVER);
      end();
      const missing = checks?.filter(({ result }) => result === 'Missing').map(({ right }) => right);
      expect(missing).toEqual([`ec2:${denied}`]);
    }
  });

  it('looks for an instance once, and requires the region of the config', async () => {
    const { provider, cloud } = await open();
    await provider.create(requestOf(SHAPE), NEVER);
    const before = cloud.proxy.requests.length;
    await provider.check?.(SHAPE, NEVER);
    const lists = cloud.proxy.requests
      .slice(before)
      .filter((request) => actionOf(request) === 'DescribeInstances' && !request.body.includes('DryRun'));
    expect(lists).toHaveLength(1);
    const elsewhere = { ...SHAPE, config: { ...SHAPE.config, region: 'eu-central-1' } };
    await expect(provider.check?.(elsewhere, NEVER)).rejects.toThrow('works in region us-east-1');
  });

  it('tries no right on an instance that was terminated', async () => {
    const { provider } = await open();
    await provider.delete(await provider.create(requestOf(SHAPE), NEVER), NEVER);
    expect(textOf(await provider.check?.(undefined, NEVER))).toContain('ec2:TerminateInstances Unknown');
  });

  it('does not know rights that there is nothing to try on', async () => {
    const { provider } = await open();
    expect(textOf(await provider.check?.(undefined, NEVER))).toEqual(
      RIGHTS.map((right, index) => `ec2:${right} ${index < 2 ? 'Allowed' : 'Unknown'}`),
    );
  });

  it('ends at credentials that are refused', async () => {
    const { provider, cloud } = await open();
    onTestFinished(cloud.proxy.always(() => ({ type: 'Answer', answer: EXPIRED })));
    expect(textOf(await provider.check?.(SHAPE, NEVER))).toEqual(['ec2:DescribeInstances Refused']);
  });
});
