/** Sends the requests to EC2 that the provider needs. The only file with the SDK, which takes 60 MiB of memory. */
import {
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  EC2Client,
  type EC2ClientConfig,
  type Instance as Ec2Instance,
  type Filter,
  type InstanceStatus,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  type RunInstancesCommandOutput,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { LostAnswer } from '../cloud/failures.ts';
import { REQUEST_MS } from '../cloud/options.ts';
import { ProviderError } from '../contract.ts';
import { toAwsError } from './errors.ts';

export interface AwsClient {
  readonly region: string;
  run(input: RunInstancesCommandInput, signal: AbortSignal): Promise<Ec2Instance>;
  /** All pages, or an error. */
  describe(filters: readonly Filter[], signal?: AbortSignal): Promise<readonly Ec2Instance[]>;
  describeEvents(codes: readonly string[], signal: AbortSignal): Promise<readonly InstanceStatus[]>;
  terminate(instanceId: string, signal: AbortSignal): Promise<void>;
  /** As a power switch does: the kernel may be dead. */
  stop(instanceId: string, signal: AbortSignal): Promise<void>;
  start(instanceId: string, signal: AbortSignal): Promise<void>;
  /** Asks whether a request would be permitted. Rejects with the reason DryRunOperation when it would be. */
  dryRun(request: AwsDryRun, signal: AbortSignal): Promise<void>;
}

export type AwsDryRun =
  | { readonly call: 'DescribeInstances' | 'DescribeInstanceStatus' }
  | { readonly call: 'RunInstances'; readonly input: RunInstancesCommandInput }
  | {
      readonly call: 'StartInstances' | 'StopInstances' | 'TerminateInstances';
      readonly instanceId: string;
    };

export interface AwsClientOptions {
  readonly clock: Clock;
  readonly timeoutMs?: number;
  /** Overrides what the SDK finds in the environment, in the profile, or on the instance. */
  readonly sdk?: Pick<EC2ClientConfig, 'region' | 'endpoint' | 'credentials'>;
}

const CONNECT_MS = 5000;
/** The most that EC2 lists at once. */
const PAGE = 1000;

type Guarded = <T>(send: () => Promise<T>, signal?: AbortSignal, lost?: LostAnswer) => Promise<T>;

export async function createAwsClient({
  clock,
  timeoutMs = REQUEST_MS,
  sdk = {},
}: AwsClientOptions): Promise<AwsClient> {
  const ec2 = new EC2Client({
    ...sdk,
    // The callers repeat: they know what a lost answer means for their call.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
  });
  const region = await readRegion(ec2);
  const guarded: Guarded = async (send, signal, lost = 'Retryable') => {
    try {
      signal?.throwIfAborted();
      return await send();
    } catch (error) {
      signal?.throwIfAborted();
      throw toAwsError(error, lost, clock.now());
    }
  };
  return {
    region,
    ...readCalls(ec2, guarded),
    ...writeCalls(ec2, guarded),
    dryRun: async (request, signal) => {
      await guarded(() => sendDryRun(ec2, request, signal), signal);
    },
  };
}

function readCalls(ec2: EC2Client, guarded: Guarded): Pick<AwsClient, 'describe' | 'describeEvents'> {
  return {
    describe: (filters, signal) =>
      guarded(async () => {
        const pages = await allPages(async (paging) => {
          const command = new DescribeInstancesCommand({ Filters: [...filters], ...paging });
          return await ec2.send(command, optional('abortSignal', signal));
        });
        const reservations = pages.flatMap(({ Reservations = [] }) => Reservations);
        return reservations.flatMap(({ Instances = [] }) => Instances);
      }, signal),
    describeEvents: (codes, signal) =>
      guarded(async () => {
        const filter = { IncludeAllInstances: true, Filters: [{ Name: 'event.code', Values: [...codes] }] };
        const pages = await allPages(async (paging) => {
          const command = new DescribeInstanceStatusCommand({ ...filter, ...paging });
          return await ec2.send(command, { abortSignal: signal });
        });
        return pages.flatMap(({ InstanceStatuses = [] }) => InstanceStatuses);
      }, signal),
  };
}

function writeCalls(
  ec2: EC2Client,
  guarded: Guarded,
): Pick<AwsClient, 'run' | 'terminate' | 'stop' | 'start'> {
  return {
    async run(input, signal) {
      const send = (): Promise<RunInstancesCommandOutput> =>
        ec2.send(new RunInstancesCommand(input), { abortSignal: signal });
      const [instance] = (await guarded(send, signal, 'Ambiguous')).Instances ?? [];
      if (instance?.InstanceId !== undefined) return instance;
      throw new ProviderError('Ambiguous', 'the answer to RunInstances has no instance');
    },
    async terminate(instanceId, signal) {
      const command = new TerminateInstancesCommand({ InstanceIds: [instanceId] });
      await guarded(() => ec2.send(command, { abortSignal: signal }), signal);
    },
    async stop(instanceId, signal) {
      // Force alone tries a graceful shutdown first, for which a dead kernel takes minutes.
      const command = new StopInstancesCommand({
        InstanceIds: [instanceId],
        Force: true,
        SkipOsShutdown: true,
      });
      await guarded(() => ec2.send(command, { abortSignal: signal }), signal);
    },
    async start(instanceId, signal) {
      const command = new StartInstancesCommand({ InstanceIds: [instanceId] });
      await guarded(() => ec2.send(command, { abortSignal: signal }), signal);
    },
  };
}

function sendDryRun(ec2: EC2Client, request: AwsDryRun, abortSignal: AbortSignal): Promise<unknown> {
  const options = { abortSignal };
  switch (request.call) {
    case 'DescribeInstances':
      return ec2.send(new DescribeInstancesCommand({ DryRun: true }), options);
    case 'DescribeInstanceStatus':
      return ec2.send(new DescribeInstanceStatusCommand({ DryRun: true }), options);
    case 'RunInstances':
      return ec2.send(new RunInstancesCommand({ ...request.input, DryRun: true }), options);
    case 'StartInstances':
      return ec2.send(new StartInstancesCommand(oneInstance(request)), options);
    case 'StopInstances':
      return ec2.send(new StopInstancesCommand(oneInstance(request)), options);
    case 'TerminateInstances':
      return ec2.send(new TerminateInstancesCommand(oneInstance(request)), options);
    default:
      return request satisfies never;
  }
}

function oneInstance({ instanceId }: { readonly instanceId: string }): {
  readonly InstanceIds: string[];
  readonly DryRun: true;
} {
  return { InstanceIds: [instanceId], DryRun: true };
}

interface Paging {
  readonly MaxResults: number;
  readonly NextToken?: string;
}

/** Returns all pages; rejects when one of them cannot be read. */
async function allPages<Page extends { readonly NextToken?: string | undefined }>(
  read: (paging: Paging) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let token: string | undefined;
  do {
    const page = await read({ MaxResults: PAGE, ...(token ? { NextToken: token } : {}) });
    pages.push(page);
    token = page.NextToken;
  } while (token);
  return pages;
}

async function readRegion(ec2: EC2Client): Promise<string> {
  try {
    return await ec2.config.region();
  } catch (error) {
    const message = 'provider aws has no region: set AWS_REGION, or region in the profile of AWS_PROFILE';
    throw new ProviderError('Terminal', message, { reason: 'NoRegion', cause: error });
  }
}
