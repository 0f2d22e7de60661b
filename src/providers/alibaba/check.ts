/** Checks the credentials and rights of provider alibaba by dry runs, which change nothing. */
import { listAt, textAt } from '../../kube/objects/json.ts';
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
import type { AlibabaApi, ApiQuery } from './api/client.ts';
import { runQuery } from './run-request.ts';

interface CheckParts {
  readonly api: AlibabaApi;
  readonly region: string;
  readonly agent: AgentDownload;
}

const PREFIX = 'ecs:';
/** A read, for which ECS has no dry run. */
const EVENTS = 'DescribeInstanceHistoryEvents';

export async function checkAlibaba(
  shape: InstanceShape | undefined,
  { api, region, agent }: CheckParts,
  signal: AbortSignal,
): Promise<readonly ProviderCheck[]> {
  const tryAction = (action: string, query: ApiQuery): Promise<ProviderCheck> =>
    tryDryRun(`${PREFIX}${action}`, () => api.call(action, { ...query, DryRun: 'true' }, signal));
  const readEvents = (): Promise<unknown> =>
    api.call(EVENTS, { RegionId: region, PageSize: '10', PageNumber: '1' }, signal);
  const run = shape && runQuery(checkRequest(shape), region, agent);
  return await checkInOrder([
    () => tryAction('DescribeInstances', { RegionId: region }),
    () => tryRight(`${PREFIX}${EVENTS}`, readEvents),
    async () =>
      run ? await tryAction('RunInstances', run) : untriedRight(`${PREFIX}RunInstances`, NO_CONFIG),
    ...checksOnInstance({
      prefix: PREFIX,
      calls: ['DeleteInstance', 'StopInstance', 'StartInstance', 'RebootInstance'],
      find: () => anyInstance({ api, region }, signal),
      tryOn: (action, InstanceId) => tryAction(action, { InstanceId }),
    }),
  ]);
}

async function anyInstance(
  { api, region }: Pick<CheckParts, 'api' | 'region'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const tags = { 'Tag.1.Key': TAG_CLUSTER_UID, 'Tag.2.Key': TAG_MACHINE_UID };
  const answer = await api.call('DescribeInstances', { RegionId: region, ...tags }, signal);
  return textAt(listAt(answer, 'Instances', 'Instance')[0], 'InstanceId');
}
