/** Checks the credentials and rights of provider aws by dry runs, which change nothing. */

import { checkInOrder, NO_CONFIG, NO_INSTANCE, tryRight, untriedRight } from '../cloud/rights.ts';
import { TAG_CLUSTER_UID, TAG_MACHINE_UID } from '../cloud/tags.ts';
import type { AgentDownload } from '../cloud/user-data.ts';
import { type InstanceShape, isProviderError, type ProviderCheck } from '../contract.ts';
import type { AwsClient, AwsDryRun } from './client.ts';
import { isEnding } from './instance.ts';
import { runRequest } from './run-request.ts';

interface CheckParts {
  readonly client: AwsClient;
  readonly agent: AgentDownload;
}

/** A UID that no Machine has: nothing is created. */
const NO_UID = '00000000-0000-0000-0000-000000000000';

export async function checkAws(
  shape: InstanceShape | undefined,
  { client, agent }: CheckParts,
  signal: AbortSignal,
): Promise<readonly ProviderCheck[]> {
  const tags = { clusterUid: NO_UID, machineUid: NO_UID };
  const run = shape && runRequest({ ...shape, machine: 'check', tags }, agent);
  const tried = (request: AwsDryRun) => (): Promise<ProviderCheck> => tryRequest(request, client, signal);
  const onInstance = (call: 'StartInstances' | 'StopInstances' | 'TerminateInstances') => async () => {
    const instanceId = await anyInstance(client, signal);
    if (instanceId === undefined) return untriedRight(`ec2:${call}`, NO_INSTANCE);
    return await tryRequest({ call, instanceId }, client, signal);
  };
  return await checkInOrder([
    tried({ call: 'DescribeInstances' }),
    tried({ call: 'DescribeInstanceStatus' }),
    run
      ? tried({ call: 'RunInstances', input: run })
      : () => Promise.resolve(untriedRight('ec2:RunInstances', NO_CONFIG)),
    onInstance('TerminateInstances'),
    onInstance('StopInstances'),
    onInstance('StartInstances'),
  ]);
}

async function tryRequest(
  request: AwsDryRun,
  client: AwsClient,
  signal: AbortSignal,
): Promise<ProviderCheck> {
  return await tryRight(`ec2:${request.call}`, () => client.dryRun(request, signal));
}

/** Returns an instance with our tags, of any cluster: the policy for others may deny what it allows for ours. */
async function anyInstance(client: AwsClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    const tagged = [TAG_CLUSTER_UID, TAG_MACHINE_UID].map((name) => ({ Name: 'tag-key', Values: [name] }));
    return (await client.describe(tagged, signal)).find((each) => !isEnding(each))?.InstanceId;
  } catch (error) {
    // Reported by the check of its own right.
    if (isProviderError(error)) return undefined;
    throw error;
  }
}
