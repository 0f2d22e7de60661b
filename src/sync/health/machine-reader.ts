/**
 * Reads how the machines of a cluster are: a few small objects that its controllers keep current, however many machines there are.
 * Nothing that fails here fails a reconcile: it makes the health of the machines unknown.
 */

import { DEFENDER_LEDGERS, DEFENDER_POLICIES, MACHINES } from '../../api/generated/resources.ts';
import type { DefenderLedger, DefenderPolicy } from '../../api/generated/types.ts';
import { CONTROLLERS_LEASE, LEDGER } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { LEASES, type ObservedLease, observeLease } from '../../kube/leader/record.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { type MachineHealth, machineHealth, unreadMachines, WITHOUT_MACHINES } from './machine-health.ts';

export interface MachineReader {
  read(client: Client, signal: AbortSignal): Promise<MachineHealth>;
}

/** A server that answers at all answers these calls within this time. */
const TIMEOUT_MS = 5000;
/** The duration of a Lease that names none. */
const LEASE_MS = 15_000;
/** The clock of the holder may differ from ours by as much, until a renewal is observed. */
const SKEW_MS = 60_000;

export function createMachineReader(clock: Pick<Clock, 'now' | 'monotonicMs'>): MachineReader {
  let lease: ObservedLease | undefined;
  /** A renewal was observed, so that its age is known by our own clock. */
  let isTimed = false;
  return { read };

  async function read(client: Client, signal: AbortSignal): Promise<MachineHealth> {
    try {
      return await readHealth(client, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isKubeError(error, 'NotFound')) return WITHOUT_MACHINES;
      return unreadMachines(messageOf(error));
    }
  }

  async function readHealth(client: Client, signal: AbortSignal): Promise<MachineHealth> {
    const options = { signal, timeoutMs: TIMEOUT_MS };
    // A list, unlike a get, is refused with NotFound only where the kind is not installed.
    const { items: ledgers } = await client.list<DefenderLedger>(DEFENDER_LEDGERS, options);
    const ledger = ledgers.find(({ metadata }) => metadata.name === LEDGER);
    const total = ledger?.status?.machines?.total ?? 0;
    const hasMachines = total > 0 || (await exists(client, MACHINES, options));
    if (!hasMachines) return WITHOUT_MACHINES;
    const [{ items: policies }, silence] = await Promise.all([
      client.list<DefenderPolicy>(DEFENDER_POLICIES, options),
      readSilence(client, options),
    ]);
    return machineHealth({ ledger, policies, hasMachines, silentReason: silence });
  }

  async function readSilence(client: Client, options: CallTerms): Promise<string | undefined> {
    try {
      return silentReason(await client.get(LEASES, CONTROLLERS_LEASE, options));
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return `Lease ${LEASE_NAME} was never held`;
      throw error;
    }
  }

  function silentReason(found: KubeObject): string | undefined {
    const { record, sinceMs } = observe(found);
    const { holder, durationMs = LEASE_MS } = record;
    if (holder === undefined) return `Lease ${LEASE_NAME} was released`;
    const renewed = textAt(found, 'spec', 'renewTime') ?? '';
    const isSilent = clock.monotonicMs() - sinceMs > durationMs;
    if (!isSilent && (isTimed || !isOld(renewed, durationMs))) return undefined;
    return `${holder} last renewed Lease ${LEASE_NAME} at ${renewed}`;
  }

  function observe(found: KubeObject): ObservedLease {
    const before = lease;
    lease = observeLease(before, found, clock.monotonicMs());
    isTimed ||= before !== undefined && lease.sinceMs !== before.sinceMs;
    return lease;
  }

  /** Tells whether the renewal is old by the clock of the holder, which is used only until a renewal is observed. */
  function isOld(renewed: string, durationMs: number): boolean {
    return clock.now().getTime() - Date.parse(renewed) > durationMs + SKEW_MS;
  }
}

interface CallTerms {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

const LEASE_NAME = `${CONTROLLERS_LEASE.namespace}/${CONTROLLERS_LEASE.name}`;

async function exists(client: Client, resource: Resource, options: CallTerms): Promise<boolean> {
  const { items } = await client.list(resource, { ...options, limit: 1 });
  return items.length > 0;
}
