/** Checks the credentials and rights of provider alibaba by dry runs, which change nothing. */
import { listAt, textAt } from '../../kube/objects/json.ts';
import { checkInOrder, NO_CONFIG, NO_INSTANCE, tryRight, untriedRight } from '../cloud/rights.ts';
import { TAG_CLUSTER_UID, TAG_MACHINE_UID } from '../cloud/tags.ts';
import type { AgentDownload } from '../cloud/user-data.ts';
import { type InstanceShape, isProviderError, type ProviderCheck } from '../contract.ts';
import type { AlibabaApi, ApiQuery } from './api/client.ts';
import { runQuery } from './run-request.ts';

interface CheckParts {
  readonly api: AlibabaApi;
  readonly region: string;
  readonly agent: AgentDownload;
}

/** A UID that no Machine has: nothing is created. */
const NO_UID = '00000000-0000-0000-0000-000000000000';
const ON_INSTANCE = ['DeleteInstance', 'StopInstance', 'StartInstance', 'RebootInstance'];

export async function checkAlibaba(
  shape: InstanceShape | undefined,
  parts: CheckParts,
  signal: AbortSignal,
): Promise<readonly ProviderCheck[]> {
  const { region, agent } = parts;
  const tags = { clusterUid: NO_UID, machineUid: NO_UID };
  const run = shape && runQuery({ ...shape, machine: 'check', tags }, region, agent);
  const tried = (action: string, query: ApiQuery) => (): Promise<ProviderCheck> =>
    tryRight(`ecs:${action}`, () => parts.api.call(action, query, signal));
  return await checkInOrder([
    tried('DescribeInstances', { RegionId: region, DryRun: 'true' }),
    // A read without a dry run.
    tried('DescribeInstanceHistoryEvents', { RegionId: region, PageSize: '10', PageNumber: '1' }),
    run
      ? tried('RunInstances', { ...run, DryRun: 'true' })
      : () => Promise.resolve(untriedRight('ecs:RunInstances', NO_CONFIG)),
    ...ON_INSTANCE.map((action) => async () => {
      const InstanceId = await anyInstance(parts, signal);
      if (InstanceId === undefined) return untriedRight(`ecs:${action}`, NO_INSTANCE);
      return await tried(action, { InstanceId, DryRun: 'true' })();
    }),
  ]);
}

/** Returns an instance with our tags, of any cluster. */
async function anyInstance({ api, region }: CheckParts, signal: AbortSignal): Promise<string | undefined> {
  const tags = { 'Tag.1.Key': TAG_CLUSTER_UID, 'Tag.2.Key': TAG_MACHINE_UID };
  try {
    const answer = await api.call('DescribeInstances', { RegionId: region, ...tags }, signal);
    return textAt(listAt(answer, 'Instances', 'Instance')[0], 'InstanceId');
  } catch (error) {
    // Reported by the check of its own right.
    if (isProviderError(error)) return undefined;
    throw error;
  }
}
