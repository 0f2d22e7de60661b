/** Provider aws on a moto server, behind a proxy that injects faults. Must not import vitest: benchmarks use it too. */
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { AwsProviderOptions } from '../../../src/providers/aws/provider.ts';
import { TAG_MACHINE_UID } from '../../../src/providers/cloud/tags.ts';
import type { Provider, ProviderErrorCode } from '../../../src/providers/contract.ts';
import { PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import { type Moto, startMoto } from '../../support/moto/server.ts';
import { type CloudFault, type CloudProxy, forward, startCloudProxy } from '../cloud/cloud-proxy.ts';
import type { ContractCall, ContractFault, ContractHarness } from '../contract/harness.ts';
import { createAwsAccount } from './account.ts';
import { actionOf, createEc2, type Ec2, ec2Error, emptied, formRequest, reversed } from './ec2.ts';

export const REGION = 'us-east-1';
export const ZONE = 'us-east-1a';
export const IMAGE = 'ami-0123456789abcdef0';
export const AGENT = { url: 'https://example.com/kubenode-agent', sha256: '0'.repeat(64) };

export interface AwsCloud extends AsyncDisposable {
  readonly moto: Moto;
  readonly ec2: Ec2;
  readonly proxy: CloudProxy;
}

export interface AwsBed extends ContractHarness {
  readonly cloud: AwsCloud;
  /** Sends a request past the provider and its proxy, and returns the answer. */
  send(fields: Readonly<Record<string, string>>): Promise<string>;
  open(changes?: Partial<AwsProviderOptions>): Promise<Provider>;
}

/** Longer than moto takes for an answer while all cores are busy. */
const TIMEOUT_MS = 6000;

export async function startAwsCloud(): Promise<AwsCloud> {
  const moto = await startMoto();
  const ec2 = createEc2(moto.url);
  const proxy = await startCloudProxy(ec2.answer);
  return {
    moto,
    ec2,
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await moto[Symbol.asyncDispose]();
    },
  };
}

export async function openAwsBed(cloud: AwsCloud): Promise<AwsBed> {
  const { moto, ec2, proxy } = cloud;
  await moto.reset();
  ec2.reset();
  proxy.reset();
  const send = async (fields: Readonly<Record<string, string>>): Promise<string> =>
    (await forward(formRequest({ Version: '2016-11-15', ...fields }), moto.url)).body;
  const open = (changes: Partial<AwsProviderOptions> = {}): Promise<Provider> => {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const sdk = { region: REGION, endpoint: proxy.url, credentials };
    const clock = createSystemClock();
    return PROVIDER_REGISTRY.aws.open({
      clock,
      env: {},
      agent: AGENT,
      timeoutMs: TIMEOUT_MS,
      pollMs: 10,
      sdk,
      ...changes,
    });
  };
  await send({
    Action: 'CreateLaunchTemplate',
    LaunchTemplateName: 'workers',
    'LaunchTemplateData.ImageId': IMAGE,
    'LaunchTemplateData.InstanceType': 'm5.large',
  });
  const running = (uid: string): Promise<string> =>
    send({
      Action: 'DescribeInstances',
      'Filter.1.Name': `tag:${TAG_MACHINE_UID}`,
      'Filter.1.Value.1': uid,
      'Filter.2.Name': 'instance-state-name',
      'Filter.2.Value.1': 'running',
      'Filter.2.Value.2': 'pending',
    });
  return {
    cloud,
    send,
    open,
    provider: await open(),
    reopen: () => open(),
    countHosts: async (uid) => idsIn(await running(uid)).length,
    async crash(uid) {
      for (const id of idsIn(await running(uid))) await send({ Action: 'StopInstances', 'InstanceId.1': id });
    },
    visibleTexts: () =>
      Promise.all(
        ['DescribeInstances', 'DescribeTags', 'DescribeVolumes', 'DescribeNetworkInterfaces'].map((Action) =>
          send({ Action }),
        ),
      ),
    fail: (code) => Promise.resolve(fail(proxy, code)),
    async inject(fault, call) {
      proxy.next((request) => actionsOf(fault, call).includes(actionOf(request)), FAULTS[fault]);
    },
    unusedId: () => `aws:///${ZONE}/i-0123456789abcdef0`,
    futureId: () => undefined,
    account: createAwsAccount({
      proxy,
      send,
      image: IMAGE,
      actions: ACTIONS,
      runningIds: async (uid) => idsIn(await running(uid)),
    }),
    async [Symbol.asyncDispose]() {
      const { pending } = proxy;
      proxy.reset();
      // A case without its fault proves nothing.
      if (pending > 0) throw new Error(`${pending} faults were not injected`);
    },
  };
}

export function idsIn(xml: string): readonly string[] {
  return [...xml.matchAll(/<instanceId>(.*?)<\/instanceId>/g)].map(([, id = '']) => id);
}

const THROTTLED = ec2Error(503, 'RequestLimitExceeded', 'Request limit exceeded.', { 'retry-after': '7' });

const FAULTS: Readonly<Record<ContractFault, CloudFault>> = {
  AnswerLost: { type: 'LoseAnswer' },
  TimeOutAfterSuccess: { type: 'NeverAnswer' },
  Throttled: { type: 'Answer', answer: THROTTLED },
  StaleList: { type: 'ChangeAnswer', change: emptied },
  WrongOrder: { type: 'ChangeAnswer', change: reversed },
  HalfPage: { type: 'CutAnswer' },
};

const ACTIONS: Readonly<Record<ContractCall, readonly string[]>> = {
  create: ['RunInstances'],
  get: ['DescribeInstances'],
  find: ['DescribeInstances'],
  delete: ['TerminateInstances'],
  power: ['StopInstances', 'StartInstances'],
  events: ['DescribeInstanceStatus'],
};

/** Faults of lists are in what a creation looks up first. */
function actionsOf(fault: ContractFault, call: ContractCall): readonly string[] {
  return ['StaleList', 'WrongOrder', 'HalfPage'].includes(fault) ? ACTIONS.find : ACTIONS[call];
}

/** As the EC2 API reference documents them. */
const REFUSALS: Readonly<Partial<Record<ProviderErrorCode, ReturnType<typeof ec2Error>>>> = {
  Quota: ec2Error(
    500,
    'InsufficientInstanceCapacity',
    'We currently do not have sufficient m5.large capacity in the Availability Zone you requested.',
  ),
  Auth: ec2Error(403, 'UnauthorizedOperation', 'You are not authorized to perform this operation.'),
  Retryable: ec2Error(503, 'RequestLimitExceeded', 'Request limit exceeded.'),
  Terminal: ec2Error(400, 'InvalidAMIID.NotFound', `The image id '[${IMAGE}]' does not exist`),
};

function fail(proxy: CloudProxy, code: ProviderErrorCode): () => Promise<void> {
  const answer = REFUSALS[code];
  if (!answer) throw new Error(`EC2 does not fail with ${code}`);
  const end = proxy.always((request) =>
    actionOf(request) === 'RunInstances' ? { type: 'Answer', answer } : undefined,
  );
  return () => Promise.resolve(end());
}
