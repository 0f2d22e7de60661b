/** Checks the credentials and rights of provider aws by dry runs, which change nothing. */
import {
  checkInOrder,
  checkRequest,
  checksOnInstance,
  NO_CONFIG,
  tryDryRun,
  tryRight,
  untriedRight,
} from '../cloud/rights.ts';
import { TAG_CLUSTER_UID, TAG_MACHINE_UID } from '../cloud/tags.ts';
import type { AgentDownload } from '../cloud/user-data.ts';
import type { InstanceShape, ProviderCheck } from '../contract.ts';
import type { AwsClient, AwsDryRun } from './client.ts';
import { isEnding } from './instance.ts';
import { runRequest } from './run-request.ts';

interface CheckParts {
  readonly client: AwsClient;
  readonly agent: AgentDownload;
}

const PREFIX = 'ec2:';

export async function checkAws(
  shape: InstanceShape | undefined,
  { client, agent }: CheckParts,
  signal: AbortSignal,
): Promise<readonly ProviderCheck[]> {
  const tryRequest = (request: AwsDryRun): Promise<ProviderCheck> =>
    tryDryRun(`${PREFIX}${request.call}`, () => client.dryRun(request, signal));
  const run = shape && runRequest(checkRequest(shape), agent);
  return await checkInOrder([
    () => tryRequest({ call: 'DescribeInstances' }),
    // A read: moto answers it, and changes nothing.
    () =>
      tryRight(`${PREFIX}DescribeInstanceStatus`, () =>
        client.dryRun({ call: 'DescribeInstanceStatus' }, signal),
      ),
    async () =>
      run
        ? await tryRequest({ call: 'RunInstances', input: run })
        : untriedRight(`${PREFIX}RunInstances`, NO_CONFIG),
    ...checksOnInstance({
      prefix: PREFIX,
      calls: ['TerminateInstances', 'StopInstances', 'StartInstances'] as const,
      find: () => anyInstance(client, signal),
      tryOn: (call, instanceId) => tryRequest({ call, instanceId }),
    }),
  ]);
}

async function anyInstance(client: AwsClient, signal: AbortSignal): Promise<string | undefined> {
  const tagged = [TAG_CLUSTER_UID, TAG_MACHINE_UID].map((name) => ({ Name: 'tag-key', Values: [name] }));
  return (await client.describe(tagged, signal)).find((each) => !isEnding(each))?.InstanceId;
}
