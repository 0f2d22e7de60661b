/** Whether a process syncs each Pipeline: it renews the Lease of the Pipeline every few seconds. */
import type { FleetPolicy, Pipeline } from '../../api/generated/types.ts';
import { readServerTime } from '../../kube/auth/self-review.ts';
import type { Client } from '../../kube/client/client.ts';
import { unlessMissing } from '../../kube/client/errors.ts';
import { LEASES, readLeaseRecord } from '../../kube/leader/record.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { FLEET_LIMITS_LEASE } from '../../sync/fleetlimits/lease.ts';
import { pipelineLease } from '../../sync/hub/pipeline/lease.ts';
import { formatAge } from '../../views/text/age.ts';
import { textField } from '../../views/text/fields.ts';
import type { ConnectionFlags } from '../connection.ts';

/** Before it was ever held, and after its release: as long as a holder may be silent. */
const TERM_MS = 15_000;

export interface PipelineLease {
  readonly pipeline: Pipeline;
  /** Undefined: it was never held. */
  readonly lease: KubeObject | undefined;
}

/** Why each Pipeline that no process syncs is not synced, a sentence each. */
export async function findUnsynced(
  client: Client,
  pipelines: readonly Pipeline[],
  {
    now,
    flags,
    signal,
  }: { readonly now: Date; readonly flags: ConnectionFlags; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const leases = await Promise.all(
    pipelines.map(async (pipeline) => ({ pipeline, lease: await readLease(client, pipeline, signal) })),
  );
  if (unsyncedReasons(leases, now, flags).length === 0) return [];
  // The clock of this machine may be wrong: the one of the server decides.
  return unsyncedReasons(leases, (await readServerTime(client, signal)) ?? now, flags);
}

async function readLease(
  client: Client,
  { metadata: { name } }: Pipeline,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(LEASES, pipelineLease(name), { signal }));
}

/** Pure. */
export function unsyncedReasons(
  leases: readonly PipelineLease[],
  now: Date,
  flags: ConnectionFlags,
): readonly string[] {
  return leases.flatMap((each) => {
    const because = unsyncedReason(each, now);
    const { name } = each.pipeline.metadata;
    return because === undefined
      ? []
      : [`nothing syncs pipeline ${name}: ${because}. Start it: ${startCommand(flags)}`];
  });
}

function unsyncedReason({ pipeline, lease }: PipelineLease, now: Date): string | undefined {
  return unheldReason(pipelineLease(pipeline.metadata.name), { lease, about: pipeline }, now);
}

/** Why no process hands out allowances for these policies; undefined while one does. */
export async function findUnlimited(
  client: Client,
  policies: readonly FleetPolicy[],
  {
    now,
    flags,
    signal,
  }: { readonly now: Date; readonly flags: ConnectionFlags; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const [about] = policies;
  if (!about) return undefined;
  const lease = await unlessMissing(client.get(LEASES, FLEET_LIMITS_LEASE, { signal }));
  const because = (at: Date): string | undefined => unheldReason(FLEET_LIMITS_LEASE, { lease, about }, at);
  if (because(now) === undefined) return undefined;
  // The clock of this machine may be wrong: the one of the server decides.
  const found = because((await readServerTime(client, signal)) ?? now);
  return (
    found &&
    `nothing hands out allowances: ${found}. What follows is the last report; each cluster continues at its floor. Start it: ${startCommand(flags)}`
  );
}

interface ObservedLease {
  /** Undefined: it was never held. */
  readonly lease: KubeObject | undefined;
  /** The object that the Lease is for: a process has to hold it soon after this was created. */
  readonly about: KubeObject;
}

function unheldReason(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { lease, about }: ObservedLease,
  now: Date,
): string | undefined {
  const label = `Lease ${namespace}/${name}`;
  const renewed = textField(lease, 'spec.renewTime');
  const since = renewed || textField(lease ?? about, 'metadata.creationTimestamp');
  const holder = holderOf(lease);
  if (now.getTime() - Date.parse(since) <= holder.durationMs) return undefined;
  if (renewed === '') return `${label} was never held`;
  const ago = `${formatAge(since, now)} ago`;
  return holder.name === undefined
    ? `${label} was released ${ago}`
    : `${holder.name} last renewed ${label} ${ago}`;
}

function holderOf(lease: KubeObject | undefined): { readonly name?: string; readonly durationMs: number } {
  const { holder, durationMs = TERM_MS } = lease ? readLeaseRecord(lease) : {};
  return holder === undefined ? { durationMs: TERM_MS } : { name: holder, durationMs };
}

function startCommand({ kubeconfig, context }: ConnectionFlags): string {
  return [
    'kubenode sync',
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context ${context}`]),
  ].join(' ');
}
