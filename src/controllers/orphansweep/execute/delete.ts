/** Deletes orphans, each with a grant, and settles the grants of deletions that take longer. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import {
  type GrantOutcome,
  type GrantPort,
  type GrantSettlement,
  orphanInstanceKey,
} from '../../../api/grants.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import {
  type Instance,
  isProviderError,
  type Provider,
  type ProviderError,
} from '../../../providers/contract.ts';
import type { Orphan } from '../plan.ts';
import { type OrphanReports, reportOrphan } from '../status.ts';

export interface SweepParts {
  readonly client: Pick<Client, 'pages' | 'get'>;
  readonly grants: Pick<GrantPort, 'ask' | 'renew' | 'settle'>;
  readonly clusterUid: string;
  readonly reports: OrphanReports;
}

export type SweptProvider = Pick<Provider, 'name' | 'find' | 'get' | 'delete'>;

export interface Sweep extends SweepParts {
  readonly provider: SweptProvider;
  /** The deletions that were begun and have not ended, by the id of the instance. */
  readonly begun: Map<string, BegunDeletion>;
  readonly context: ReconcileContext;
}

interface BegunDeletion {
  readonly orphan: Orphan;
  readonly grant: Pick<GrantSettlement, 'id' | 'fence'>;
}

/** Longer than a cloud takes to end an instance. */
const DELETE_SECONDS = 300;

/** Settles the grants of deletions that were begun, when their instances are not listed any more. */
export async function endDeletions(listed: readonly Instance[], sweep: Sweep): Promise<void> {
  const { begun, grants, reports, context } = sweep;
  const ids = new Set(listed.map(({ id }) => id));
  for (const [id, { orphan, grant }] of begun) {
    if (ids.has(id)) continue;
    // oxlint-disable-next-line no-await-in-loop -- a list may be stale: each is looked up by its id
    const outcome = OUTCOMES[(await readAgain(orphan.instance, sweep)).state];
    if (outcome === undefined) continue;
    await grants.settle([{ ...grant, outcome }]); // oxlint-disable-line no-await-in-loop -- as above
    begun.delete(id);
    if (outcome === 'Succeeded') reportDeleted(orphan, { reports, context });
  }
}

interface InstanceReading {
  /** Changed: its tags are not those that were listed, or not ours any more. */
  readonly state: 'Unchanged' | 'Changed' | 'NotFound' | 'Unknown';
  readonly because: string;
}

/** How a deletion that was begun has ended. An instance that a person has taken from us is not deleted again. Undefined: it may go on. */
const OUTCOMES: Readonly<Record<InstanceReading['state'], GrantOutcome | undefined>> = {
  Unchanged: undefined,
  Unknown: undefined,
  NotFound: 'Succeeded',
  Changed: 'Ambiguous',
};

/** Never throws an error of the provider: one instance must not keep others from being deleted. */
async function readAgain(
  { id, tags }: Instance,
  { provider, context }: Pick<Sweep, 'provider' | 'context'>,
): Promise<InstanceReading> {
  try {
    const current = await provider.get(id, context.signal);
    if (!current) return { state: 'NotFound', because: 'the provider does not find it any more' };
    const isSame = current.tags.machineUid === tags.machineUid && current.tags.clusterUid === tags.clusterUid;
    return isSame
      ? { state: 'Unchanged', because: 'its tags are as listed' }
      : { state: 'Changed', because: 'its tags were changed' };
  } catch (error) {
    if (!isProviderError(error)) throw error;
    // Terminal: a provider refuses to read an instance without our tags.
    const state = isProviderError(error, 'Terminal') ? 'Changed' : 'Unknown';
    return { state, because: textOf(error) };
  }
}

/** Returns the orphan with why it is left. Without `wait` it is deleted. */
export async function deleteOrphan(orphan: Orphan, sweep: Sweep): Promise<Orphan> {
  const { instance } = orphan;
  const { grants, context } = sweep;
  const { machine, tags } = instance;
  const [asked] = await grants.ask([
    {
      holder: { kind: 'Machine', name: machine, origin: `Machine/${machine}` },
      machine: orphanInstanceKey(tags.machineUid),
      action: 'DeleteInstance',
      risk: 'Machine',
      factsAt: context.clock.now(),
      expectedSeconds: DELETE_SECONDS,
    },
  ]);
  if (!asked?.granted) return denied(orphan, asked);
  const { id, fence } = asked;
  const settle = async (outcome: GrantOutcome): Promise<void> => {
    sweep.begun.delete(instance.id);
    await grants.settle([{ id, fence, outcome }]);
  };
  const changed = await changedReason(instance, sweep);
  if (changed !== undefined) {
    await settle('Unused');
    return { instance, wait: 'Queued', because: changed };
  }
  const [renewed] = await grants.renew([{ id, fence }]);
  if (!renewed?.granted) return denied(orphan, renewed);
  sweep.begun.set(instance.id, { orphan, grant: { id, fence } });
  return await endInstance(orphan, sweep, settle);
}

interface Refusal {
  readonly reason: string;
  readonly message: string;
}

function denied({ instance }: Orphan, refusal: Refusal | undefined): Orphan {
  const { reason, message } = refusal ?? { reason: 'LedgerUnavailable', message: 'no answer' };
  return { instance, wait: 'GrantDenied', reason, because: `${reason}: ${message}` };
}

/** Returns why it is not deleted now: it changed since it was listed. The grant may have taken a while. */
async function changedReason(instance: Instance, sweep: Sweep): Promise<string | undefined> {
  const { state, because } = await readAgain(instance, sweep);
  if (state !== 'Unchanged') return because;
  return (await hasMachine(instance, sweep)) ? `Machine ${instance.machine} exists` : undefined;
}

async function hasMachine(
  { id, machine, tags }: Instance,
  { client, context: { signal } }: Sweep,
): Promise<boolean> {
  try {
    const { metadata, status } = await client.get<Machine>(MACHINES, { name: machine }, { signal });
    return metadata.uid === tags.machineUid || status?.infra?.providerID === id;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

/** Ends the instance. The grant of a deletion that may go on stays open: the next sweep settles it or, after a crash, the Defender. */
async function endInstance(
  orphan: Orphan,
  { provider, reports, context }: Sweep,
  settle: (outcome: GrantOutcome) => Promise<void>,
): Promise<Orphan> {
  const { instance } = orphan;
  try {
    await provider.delete(instance.id, context.signal);
  } catch (error) {
    if (!isProviderError(error)) throw error;
    const why = { reason: error.reason, because: textOf(error) };
    context.log.warn('orphan instance not deleted', { instance: instance.id, error });
    if (isProviderError(error, 'Retryable', 'Ambiguous')) return { instance, wait: 'Deleting', ...why };
    // Nothing happened: breakers are not for it.
    await settle('Unused');
    return { instance, wait: 'DeletionFailed', ...why };
  }
  await settle('Succeeded');
  reportDeleted(orphan, { reports, context });
  return orphan;
}

function reportDeleted(orphan: Orphan, reporting: Pick<Sweep, 'reports' | 'context'>): void {
  const { instance, because } = orphan;
  reporting.context.log.info('orphan instance deleted', { instance: instance.id, because });
  reportOrphan(orphan, reporting);
}

function textOf({ reason, message }: ProviderError): string {
  return `${reason}: ${message}`;
}
