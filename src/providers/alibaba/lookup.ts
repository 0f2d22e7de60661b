/** Looks instances up. ECS answers with an empty list where a right is missing: an empty list is believed only after a dry run that has the right. */
import { byCode } from '../../kube/objects/digest.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { Clock } from '../../os/clock.ts';
import { createBatch } from '../cloud/batch.ts';
import { tagsMissingError } from '../cloud/own-instances.ts';
import { formatFilter, matchesFilter } from '../cloud/tags.ts';
import { type Instance, type InstanceFilter, ProviderError } from '../contract.ts';
import type { AlibabaApi, ApiQuery } from './api/client.ts';
import { isApiCode } from './errors.ts';
import { type ListedInstance, parseAlibabaId, readEcsInstance, readListed } from './instance.ts';
import { tagFields } from './run-request.ts';

export interface AlibabaLookup {
  /** Returns the instance; undefined: not found. Throws for an instance that is not ours. */
  byId(id: string, signal: AbortSignal): Promise<FoundInstance | undefined>;
  byFilter(filter: InstanceFilter, signal: AbortSignal): Promise<readonly Instance[]>;
}

export interface FoundInstance {
  readonly instance: Instance;
  /** The state as ECS names it. */
  readonly status: string;
}

/** The most that one request of DescribeInstances accepts and returns. */
const PAGE = 100;
/** As many instances as a large account has: a list that goes on longer is a circle. */
const MAX_PAGES = 1000;
/** Rights that are taken away are noticed within this time. */
const DRY_RUN_MS = 300_000;

export function createAlibabaLookup(api: AlibabaApi, region: string, clock: Clock): AlibabaLookup {
  let confirmedAtMs: number | undefined;
  const unaborted = new AbortController().signal;

  async function listAll(filter: ApiQuery, signal: AbortSignal): Promise<readonly ListedInstance[]> {
    const all = await listPages(api, { RegionId: region, ...filter, MaxResults: String(PAGE) }, signal);
    if (all.length === 0) await confirmRight(signal);
    return all;
  }

  async function confirmRight(signal: AbortSignal): Promise<void> {
    if (confirmedAtMs !== undefined && clock.monotonicMs() - confirmedAtMs < DRY_RUN_MS) return;
    try {
      await api.call('DescribeInstances', { RegionId: region, DryRun: 'true' }, signal);
    } catch (error) {
      // The answer to a dry run of what would be carried out.
      if (!isApiCode(error, 'DryRunOperation')) throw error;
    }
    confirmedAtMs = clock.monotonicMs();
  }

  const batch = createBatch<ListedInstance>(async (ids) => {
    const found = await listAll({ InstanceIds: JSON.stringify(ids) }, unaborted);
    return new Map(found.map((each) => [each.InstanceId, each]));
  }, PAGE);

  return {
    async byId(id, signal) {
      signal.throwIfAborted();
      const found = await batch.lookUp(parseAlibabaId(id, region), signal);
      if (!found) return undefined;
      const instance = readEcsInstance(found, region);
      if (instance) return { instance, status: found.Status };
      throw tagsMissingError(id, 'it is not ours, or a person removed its tags kubenode-…');
    },
    async byFilter(filter, signal) {
      const found = await listAll(tagFields(formatFilter(filter)), signal);
      const instances = found.flatMap((each) => readEcsInstance(each, region) ?? []);
      const byId = new Map(instances.map((each) => [each.id, each]));
      return [...byId.values()]
        .filter((each) => matchesFilter(each, filter))
        .toSorted((a, b) => byCode(a.id, b.id));
    },
  };
}

async function listPages(
  api: AlibabaApi,
  query: ApiQuery,
  signal: AbortSignal,
): Promise<readonly ListedInstance[]> {
  const all: ListedInstance[] = [];
  let token = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await api.call(
      'DescribeInstances',
      token === '' ? query : { ...query, NextToken: token },
      signal,
    );
    if (!Array.isArray(valueAt(answer, 'Instances', 'Instance'))) throw badList('has no instances');
    all.push(...listAt(answer, 'Instances', 'Instance').map(readListed));
    token = textAt(answer, 'NextToken') ?? '';
    if (token === '') return all;
  }
  throw badList('does not end');
}

function badList(why: string): ProviderError {
  return new ProviderError('Retryable', `the list of Alibaba Cloud ${why}`, { reason: 'BadAnswer' });
}
