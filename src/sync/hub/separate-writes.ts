/** The writes to the hub that have a field manager of their own, so that what promotion applies does not remove their fields. */
import { CLUSTERS, PIPELINES } from '../../api/generated/resources.ts';
import type {
  Cluster,
  ClusterApplyReport,
  Pipeline,
  PipelineCommitStatuses,
  PipelinePlanComments,
  PipelineRevert,
  PipelineStatus,
} from '../../api/generated/types.ts';
import {
  MANAGER_SYNC_PLANS,
  MANAGER_SYNC_REPORT,
  MANAGER_SYNC_REVERTS,
  MANAGER_SYNC_STATUSES,
  MANAGER_SYNC_WEBHOOK,
} from '../../api/names.ts';
import type { WritableStore } from '../../kube/cache/store.ts';
import type { CallOptions, Client } from '../../kube/client/client.ts';
import { askFence } from '../../kube/leader/fence.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { WriteFence } from '../promote/ports.ts';

export interface SeparateWrites {
  /** Reads a Cluster from the API server, not from the cache. The cache has it afterwards. */
  readCluster(name: string): Promise<Cluster>;
  /** Writes `status.report` of a Cluster and nothing else; undefined removes it. */
  applyClusterReport(name: string, report: ClusterApplyReport | undefined, fence?: WriteFence): Promise<void>;
  /** Records that a webhook of the Pipeline was received, for the process that holds its Lease. */
  recordWebhook(pipeline: string, receivedAt: Date): Promise<void>;
  /** Records which commit statuses the git host accepted; undefined removes the record. */
  recordCommitStatuses(
    pipeline: string,
    statuses: PipelineCommitStatuses | undefined,
    fence?: WriteFence,
  ): Promise<void>;
  /** Records which plans the git host has as comments; undefined removes the record. */
  recordPlanComments(
    pipeline: string,
    comments: PipelinePlanComments | undefined,
    fence?: WriteFence,
  ): Promise<void>;
  /** Records the reverts that sync makes. */
  recordReverts(pipeline: string, reverts: readonly PipelineRevert[], fence?: WriteFence): Promise<void>;
}

const REPORT_OPTIONS = { fieldManager: MANAGER_SYNC_REPORT, force: true, subresource: 'status' };
/** Any replica writes it, also one that does not hold the Lease of the Pipeline. */
const WEBHOOK_OPTIONS = { fieldManager: MANAGER_SYNC_WEBHOOK, force: true, subresource: 'status' };
const STATUSES_OPTIONS = { fieldManager: MANAGER_SYNC_STATUSES, force: true, subresource: 'status' };
const REVERTS_OPTIONS = { fieldManager: MANAGER_SYNC_REVERTS, force: true, subresource: 'status' };
const PLANS_OPTIONS = { fieldManager: MANAGER_SYNC_PLANS, force: true, subresource: 'status' };

export function separateWrites(
  client: Client,
  {
    clusters,
    pipelines,
  }: { readonly clusters: WritableStore<Cluster>; readonly pipelines: WritableStore<Pipeline> },
): SeparateWrites {
  return { ...clusterCalls(client, clusters), ...pipelineCalls(client, pipelines) };
}

function clusterCalls(
  client: Client,
  store: WritableStore<Cluster>,
): Pick<SeparateWrites, 'readCluster' | 'applyClusterReport'> {
  const { group, version, kind } = CLUSTERS;
  const put = (answer: Cluster): Cluster => {
    const cluster = withoutManagedFields(answer);
    store.put(cluster);
    return cluster;
  };
  return {
    readCluster: async (name) => put(await client.get<Cluster>(CLUSTERS, { name })),
    async applyClusterReport(name, report, fence) {
      const status = report ? { report } : {};
      const intent = { apiVersion: `${group}/${version}`, kind, metadata: { name }, status };
      put(await client.apply<Cluster>(CLUSTERS, intent, { ...REPORT_OPTIONS, ...asked(fence) }));
    },
  };
}

function pipelineCalls(
  client: Client,
  store: WritableStore<Pipeline>,
): Pick<SeparateWrites, 'recordWebhook' | 'recordCommitStatuses' | 'recordPlanComments' | 'recordReverts'> {
  const { group, version, kind } = PIPELINES;
  const applyStatus = async (
    name: string,
    status: Partial<PipelineStatus>,
    options: typeof WEBHOOK_OPTIONS & Pick<CallOptions, 'beforeSend'>,
  ): Promise<void> => {
    const intent = { apiVersion: `${group}/${version}`, kind, metadata: { name }, status };
    store.put(withoutManagedFields(await client.apply<Pipeline>(PIPELINES, intent, options)));
  };
  return {
    recordWebhook: (name, receivedAt) =>
      applyStatus(name, { webhook: { receivedAt: receivedAt.toISOString() } }, WEBHOOK_OPTIONS),
    recordCommitStatuses: (name, commitStatuses, fence) =>
      applyStatus(name, commitStatuses ? { commitStatuses } : {}, { ...STATUSES_OPTIONS, ...asked(fence) }),
    recordPlanComments: (name, planComments, fence) =>
      applyStatus(name, planComments ? { planComments } : {}, { ...PLANS_OPTIONS, ...asked(fence) }),
    recordReverts: (name, reverts, fence) =>
      applyStatus(name, { reverts: [...reverts] }, { ...REVERTS_OPTIONS, ...asked(fence) }),
  };
}

export function asked(fence: WriteFence | undefined): Pick<CallOptions, 'beforeSend'> {
  return fence ? { beforeSend: () => askFence(fence) } : {};
}

export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
