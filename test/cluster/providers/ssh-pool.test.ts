/** The contract of provider ssh over a real sshd: the hosts have scripts run on them, and are verified to be clean. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byCode } from '../../../src/kube/objects/digest.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { type ContractProvider, NEVER, requestOf } from '../../providers/contract/harness.ts';
import { describeProviderContract } from '../../providers/contract/suite.ts';
import { makeStandIn } from '../../providers/ssh/import/stand-in.ts';
import { SSH_CONTRACT } from '../../providers/ssh/pool/contract.ts';
import { noSshdHostsReason, type SshdHosts, startSshdHosts } from '../../providers/ssh/pool/sshd-hosts.ts';
import { hostsOf, POOL, sshdPool } from '../../providers/ssh/pool/sshd-pool.ts';
import { tempFolder } from '../../support/temp.ts';

const reason = noSshdHostsReason();
const SHAPE = { config: { pool: POOL, selector: { disk: 'nvme' } }, host: 'systemd', zone: 'a' } as const;
const FIELDS = { labels: { disk: 'nvme' }, zone: 'a' };
/** As many as the suite creates at once, and some that stay free. */
const HOSTS = 10;

describe.skipIf(reason)(`a pool of hosts behind a real sshd${reason ? ` (skipped: ${reason})` : ''}`, () => {
  const folder = tempFolder('sshd-pool');
  const { folder: programs } = makeStandIn(join(folder, 'programs'));
  let hosts: SshdHosts;

  beforeAll(async () => {
    hosts = await startSshdHosts(folder, HOSTS);
  });
  afterAll(() => hosts?.close());

  // One shape: which host matches is decided before any connection, and test/providers has both.
  const contract: ContractProvider = {
    ...SSH_CONTRACT,
    accepted: { 'a host behind a real sshd': SHAPE },
    open: () => Promise.resolve(sshdPool(hosts, { programs, fields: FIELDS })),
  };
  describeProviderContract(contract);

  it('MAC-30 verifies over SSH that nothing of a machine is left on its host before the next one gets it', async () => {
    await using one = sshdPool(hosts, { programs, fields: FIELDS });
    const request = requestOf(SHAPE);
    const id = await one.provider.create(request, NEVER);
    const [address = ''] = hostsOf(hosts, request.tags.machineUid);
    for (let index = 1; index < HOSTS; index += 1) await one.provider.create(requestOf(SHAPE), NEVER);
    const left = join(hosts.root(address), 'var/lib/kubenode/left');
    mkdirSync(left);
    await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject({
      code: 'Retryable',
      reason: 'CleanupIncomplete',
      message: `${address} still has /var/lib/kubenode`,
    });
    const next = requestOf(SHAPE);
    await expect(one.provider.create(next, NEVER)).rejects.toMatchObject({ reason: 'NoFreeHost' });
    rmSync(left, { recursive: true });
    await one.provider.delete(id, NEVER);
    await one.provider.create(next, NEVER);
    expect(hostsOf(hosts, next.tags.machineUid)).toEqual([address]);
  });

  it('MAC-30 gives the hosts to as many machines of two processes, one each by the records on the hosts', async () => {
    await using one = sshdPool(hosts, { programs, fields: FIELDS });
    const providers = [one.provider, await one.reopen()];
    const requests = Array.from({ length: 2 * HOSTS }, () => requestOf(SHAPE));
    const results = await Promise.allSettled(
      requests.map((request, index) => (providers[index % 2] as Provider).create(request, NEVER)),
    );
    const failed = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(failed).toHaveLength(HOSTS);
    for (const error of failed) expect(error).toMatchObject({ code: 'Quota', reason: 'NoFreeHost' });
    const taken = requests.flatMap(({ tags }) => hostsOf(hosts, tags.machineUid));
    expect(taken.toSorted(byCode)).toEqual(hosts.addresses.toSorted(byCode));
  });
});
