/** A small ECS in memory that answers as the documentation of its API 2014-05-26 does. */

import { byCode } from '../../../../src/kube/objects/digest.ts';
import type { Clock } from '../../../../src/os/clock.ts';
import { REFUSALS } from './refusal.ts';

export interface EcsInstance {
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  status: 'Pending' | 'Starting' | 'Running' | 'Stopping' | 'Stopped';
  /** How many lists do not have it yet. */
  hiddenFor: number;
}

export interface EcsEvent {
  readonly id: string;
  readonly instanceId: string;
  readonly type: string;
  status: string;
  readonly notBefore: string;
}

export interface Ecs {
  readonly instances: Map<string, EcsInstance>;
  readonly events: EcsEvent[];
  /** Calls that lack a right. */
  readonly denied: Set<string>;
  /** The error of the next call of an action. */
  readonly failures: Map<string, () => Error>;
  /** How many lists do not have a new instance. */
  hideNewFor: number;
  /** The error of the next calls of RunInstances. */
  failRun: (() => Error) | undefined;
  call(action: string, query: Readonly<Record<string, string>>): object;
}

const REQUIRED = ['RegionId', 'ImageId', 'InstanceType', 'VSwitchId', 'ClientToken'];

type Query = Readonly<Record<string, string>>;

/** An instance that changes its state is in between for one list. */
const NEXT = { Pending: 'Starting', Starting: 'Running', Stopping: 'Stopped' } as const;

export function createEcs(clock: Clock, region = 'cn-hangzhou'): Ecs {
  const tokens = new Map<string, { readonly query: string; readonly id: string }>();
  const ecs: Ecs = {
    instances: new Map(),
    events: [],
    denied: new Set(),
    failures: new Map(),
    hideNewFor: 1,
    failRun: undefined,
    call(action, query) {
      const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
      if (!act) throw REFUSALS.missing('Action');
      throwFailure(action);
      // Documented: without the right DescribeInstances answers with an empty list.
      const isDenied = ecs.denied.has(action);
      const isDryRun = query['DryRun'] === 'true';
      const isList = action === 'DescribeInstances' && !isDryRun;
      if (isDenied && !isList) throw REFUSALS.noRight();
      if (isDenied) return { RequestId: 'r', Instances: { Instance: [] }, NextToken: '' };
      if (isDryRun) throw REFUSALS.dryRun();
      return { RequestId: '473469C7-AA6F-4DC5-B3DB-A3DC0DE3C83E', ...act(query) };
    },
  };
  let count = 0;

  function throwFailure(action: string): void {
    const failure = ecs.failures.get(action);
    ecs.failures.delete(action);
    if (failure) throw failure();
  }

  function requireInstance(query: Query): EcsInstance {
    const found = ecs.instances.get(query['InstanceId'] ?? '');
    if (!found) throw REFUSALS.notFound();
    return found;
  }

  const ACTIONS: Readonly<Record<string, (query: Query) => object>> = {
    RunInstances(query) {
      const absent = REQUIRED.find((name) => !query[name]);
      if (absent !== undefined) throw REFUSALS.missing(absent);
      const { ClientToken: token = '', ...parameters } = query;
      const sent = JSON.stringify(Object.entries(parameters).toSorted(([a], [b]) => byCode(a, b)));
      const before = tokens.get(token);
      if (before && before.query !== sent) throw REFUSALS.mismatch();
      if (before) return { InstanceIdSets: { InstanceIdSet: [before.id] } };
      if (ecs.failRun) throw ecs.failRun();
      const ids = Array.from({ length: Number(query['Amount']) }, () => {
        count += 1;
        const id = `i-bp1${count.toString(36).padStart(17, '0')}`;
        const [tags, createdAt] = [tagsOf(query), clock.now()];
        ecs.instances.set(id, { id, query, tags, createdAt, status: 'Running', hiddenFor: ecs.hideNewFor });
        tokens.set(token, { query: sent, id });
        return id;
      });
      return { InstanceIdSets: { InstanceIdSet: ids } };
    },
    DescribeInstances(query) {
      const expected = Object.entries(tagsOf(query));
      const ids =
        query['InstanceIds'] === undefined ? undefined : (JSON.parse(query['InstanceIds']) as string[]);
      const matching = [...ecs.instances.values()]
        .filter(({ id }) => ids?.includes(id) ?? true)
        .filter(({ tags }) => expected.every(([name, value]) => hasTag(tags, name, value)));
      const visible = matching.filter((each) => each.hiddenFor === 0);
      for (const each of matching) each.hiddenFor = Math.max(0, each.hiddenFor - 1);
      const begin = Number(query['NextToken'] ?? 0);
      const end = begin + Number(query['MaxResults'] ?? 10);
      const page = visible.slice(begin, end).map((each) => listed(each, region));
      for (const each of visible.slice(begin, end)) {
        each.status = { ...NEXT, Running: 'Running', Stopped: 'Stopped' }[
          each.status
        ] as EcsInstance['status'];
      }
      return { Instances: { Instance: page }, NextToken: end < visible.length ? String(end) : '' };
    },
    DeleteInstance(query) {
      const found = requireInstance(query);
      if (found.status === 'Pending') throw REFUSALS.badStatus();
      if (found.status === 'Running' && query['Force'] !== 'true') throw REFUSALS.badStatus();
      ecs.instances.delete(found.id);
      return {};
    },
    StopInstance(query) {
      const found = requireInstance(query);
      if (found.status !== 'Running') throw REFUSALS.badStatus();
      found.status = 'Stopping';
      return {};
    },
    StartInstance(query) {
      const found = requireInstance(query);
      if (found.status !== 'Stopped') throw REFUSALS.badStatus();
      found.status = 'Starting';
      return {};
    },
    RebootInstance(query) {
      const found = requireInstance(query);
      if (found.status !== 'Running') throw REFUSALS.badStatus();
      found.status = 'Starting';
      return {};
    },
    // Documented: it returns at once, and the instance is stopped and started elsewhere.
    RedeployInstance(query) {
      const found = requireInstance(query);
      if (found.status !== 'Running' && found.status !== 'Stopped') throw REFUSALS.badStatus();
      found.status = found.status === 'Running' ? 'Stopping' : 'Starting';
      return {};
    },
    AcceptInquiredSystemEvent(query) {
      const found = ecs.events.find(({ id, status }) => id === query['EventId'] && status === 'Inquiring');
      if (!found) throw REFUSALS.noInquiry();
      found.status = 'Scheduled';
      return {};
    },
    DescribeInstanceHistoryEvents(query) {
      const states = Object.entries(query)
        .filter(([name]) => name.startsWith('InstanceEventCycleStatus.'))
        .map(([, value]) => value);
      const size = Number(query['PageSize'] ?? 10);
      const begin = (Number(query['PageNumber'] ?? 1) - 1) * size;
      const all = ecs.events.filter(({ status }) => states.includes(status));
      const page = all.slice(begin, begin + size).map((each) => ({
        InstanceId: each.instanceId,
        EventId: each.id,
        EventType: { Code: 1, Name: each.type },
        EventCycleStatus: { Code: 0, Name: each.status },
        EventPublishTime: '2017-11-30T06:32:31Z',
        NotBefore: each.notBefore,
      }));
      return {
        InstanceSystemEventSet: { InstanceSystemEventType: page },
        TotalCount: all.length,
        PageSize: size,
      };
    },
  };
  return ecs;
}

/** Documented: a key without a value finds every value. */
function hasTag(tags: EcsInstance['tags'], name: string, value: string): boolean {
  return value === '' ? tags[name] !== undefined : tags[name] === value;
}

function tagsOf(query: Query): Record<string, string> {
  const keys = Object.keys(query).filter((name) => /^Tag\.\d+\.Key$/.test(name));
  const entries = keys.map((name) => [query[name] ?? '', query[name.replace('Key', 'Value')] ?? ''] as const);
  return Object.fromEntries(entries);
}

/** The form of the documented answer, with the fields of which the value matters here. */
function listed({ id, query, tags, createdAt, status }: EcsInstance, region: string): object {
  const minute = new Date(Math.round(createdAt.getTime() / 60_000) * 60_000);
  return {
    InstanceId: id,
    InstanceName: query['InstanceName'],
    Status: status,
    RegionId: region,
    ZoneId: `${region}-h`,
    InstanceChargeType: 'PostPaid',
    InstanceNetworkType: 'vpc',
    CreationTime: minute.toISOString().replace(':00.000Z', 'Z'),
    Tags: { Tag: Object.entries(tags).map(([TagKey, TagValue]) => ({ TagKey, TagValue })) },
    VpcAttributes: {
      PrivateIpAddress: { IpAddress: ['172.17.0.10'] },
      VSwitchId: query['VSwitchId'],
      NatIpAddress: '',
    },
    PublicIpAddress: { IpAddress: [] },
    EipAddress: { IpAddress: '', AllocationId: '', InternetChargeType: '' },
    OperationLocks: { LockReason: [] },
  };
}
