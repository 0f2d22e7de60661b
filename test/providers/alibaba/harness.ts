/** Provider alibaba with our server, which answers as ECS documents it. */

import { openAlibabaProvider } from '../../../src/providers/alibaba/provider.ts';
import type { CloudProviderOptions } from '../../../src/providers/cloud/options.ts';
import type { Provider, ProviderErrorCode } from '../../../src/providers/contract.ts';
import { createFastClock } from '../../support/fast-clock.ts';
import type { CloudAccount, ContractCall, ContractHarness } from '../contract/harness.ts';
import type { EcsInstance } from './server/ecs.ts';
import { REFUSALS } from './server/refusal.ts';
import { type EcsServer, startEcsServer } from './server/server.ts';

export interface AlibabaHarness extends ContractHarness {
  readonly server: EcsServer;
  /** Opens a provider with these changes of its options. */
  readonly openWith: (changes: Partial<CloudProviderOptions>) => Provider;
}

export const CONFIG = {
  instanceType: 'ecs.g7.large',
  imageId: 'aliyun_3_x64_20G_alibase_20240528.vhd',
  vSwitchIds: { 'cn-hangzhou-h': 'vsw-bp1s5fnvk4gn2tws0312' },
  securityGroupIds: ['sg-bp15ed6xe1yxeycg7o12'],
};

export const AGENT = { url: 'https://example.com/kubenode-agent.gz', sha256: 'a'.repeat(64) };

const ACTIONS: Readonly<Record<ContractCall, readonly string[]>> = {
  create: ['RunInstances'],
  get: ['DescribeInstances'],
  find: ['DescribeInstances'],
  delete: ['DeleteInstance'],
  power: ['StopInstance', 'StartInstance', 'RebootInstance'],
  events: ['DescribeInstanceHistoryEvents'],
};

const COPY = 'i-bp1copyofaperson0001';

const FAILURES: Readonly<Record<ProviderErrorCode, () => Error>> = {
  Quota: REFUSALS.noStock,
  Auth: REFUSALS.noRight,
  Retryable: REFUSALS.throttled,
  Ambiguous: REFUSALS.unavailable,
  Terminal: REFUSALS.badType,
  NotFound: REFUSALS.notFound,
};

export async function openAlibabaHarness(): Promise<AlibabaHarness> {
  const server = await startEcsServer();
  const { ecs } = server;
  // Two seconds: the machine of the tests may be busy.
  const options = { clock: createFastClock(), agent: AGENT, timeoutMs: 200_000 };
  const env = {
    ALIBABA_CLOUD_REGION_ID: 'cn-hangzhou',
    ALIBABA_CLOUD_ECS_ENDPOINT: server.url,
    ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI5test',
    ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'test-secret',
  };
  const openWith = (changes: Partial<CloudProviderOptions>): Provider =>
    openAlibabaProvider({ ...options, ...changes, env: { ...env, ...changes.env } });
  const ofMachine = (uid: string): readonly EcsInstance[] =>
    [...ecs.instances.values()].filter(({ tags }) => tags['kubenode-machine-uid'] === uid);
  return {
    server,
    openWith,
    provider: openWith({}),
    reopen: () => Promise.resolve(openWith({})),
    countHosts: (uid) => Promise.resolve(ofMachine(uid).filter(({ status }) => status !== 'Stopped').length),
    crash(uid) {
      for (const each of ofMachine(uid)) each.status = 'Stopped';
      return Promise.resolve();
    },
    // What everybody with the right to list may read: not the user data.
    visibleTexts: () =>
      Promise.resolve([JSON.stringify(ecs.call('DescribeInstances', { MaxResults: '100' }))]),
    fail(how) {
      ecs.failRun = FAILURES[how];
      return Promise.resolve(() => {
        ecs.failRun = undefined;
        return Promise.resolve();
      });
    },
    inject(fault, call) {
      const isList = fault === 'StaleList' || fault === 'HalfPage';
      server.inject(fault, isList && call === 'create' ? ['DescribeInstances'] : ACTIONS[call]);
      return Promise.resolve();
    },
    unusedId: () => 'alibaba://cn-hangzhou.i-bp67acfmxazb4p0000zz',
    futureId: () => undefined,
    account: createAccount(server, ofMachine),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function createAccount(
  { ecs, expired }: EcsServer,
  ofMachine: (uid: string) => readonly EcsInstance[],
): CloudAccount {
  return {
    copies: 'Named',
    expire(calls) {
      const actions = calls.flatMap((call) => ACTIONS[call]);
      for (const each of actions) expired.add(each);
      return () => {
        for (const each of actions) expired.delete(each);
      };
    },
    removeByHand(uid) {
      for (const { id } of ofMachine(uid)) ecs.instances.delete(id);
      return Promise.resolve();
    },
    copyByHand(uid) {
      for (const each of ofMachine(uid)) ecs.instances.set(COPY, { ...each, id: COPY });
      return Promise.resolve();
    },
  };
}
